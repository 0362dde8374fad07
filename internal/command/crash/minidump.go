package crash

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/minidump"
)

// New makes the verb minidump.
func New(host hosts.Plugins) *cobra.Command {
	var flags report.Flags
	var opts minidump.Options
	cmd := &cobra.Command{
		Use:   "minidump DUMP",
		Short: "Print the stacks of a crash report (minidump, microdump)",
		Long: `minidump prints the stacks of a process from the minidump that Windows, Breakpad or
Crashpad has written, on any machine. The thread that crashed comes first, with the reason
in its system's words; the modules follow the stacks, and say whose symbols lack.

A minidump has the stacks and little else. Names, lines, inlined calls and unwind tables come
from Breakpad's symbol files (--symbols) and, of Linux's modules, from the files themselves,
if the same builds are at hand: by their paths, below --sysroot, or in the dump's folder.

DUMP may also be a log with microdumps (Android's logcat), of which the last whole one
counts, or the one that --microdump says.

If DUMP is a folder, or "-" for a list of paths on standard input, all dumps (*.dmp,
*.mdmp) are read, several at once, and each gives a line of JSON; a bad one gives
{"minidump", "error"}, and the others follow.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format ` + report.Either(report.StackFormats) + ` writes them as one picture, for other
programs and for browsers, to standard output or to the file of -o.

Stacks of amd64, arm64, x86 and arm are walked. Of other processors, minidump prints the
threads, their registers (--registers) and the modules.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk minidump crash.dmp --symbols ./symbols
  sfwalk minidump crash.dmp --symbols ./symbols --explain
  sfwalk minidump --exe ./server crash.dmp
  sfwalk minidump --exe ./server crash.dmp --print 'req->url' --frame handle_request
  sfwalk minidump crash.dmp --merge
  sfwalk minidump crash.dmp --info
  sfwalk minidump crash.dmp --info --json | jq .streams
  sfwalk minidump crash.dmp --format breakpad
  sfwalk minidump logcat.txt --symbols ./symbols
  sfwalk minidump crash.dmp --json | jq .crash
  sfwalk minidump ./reports --symbols ./symbols | jq .crash.reason`,
		Args: cobra.ExactArgs(1),
	}
	info, microdump, layout := false, 0, ""
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.Sum.Given = cmd.Flags().Changed("format")
		if layout != "sfwalk" && layout != "breakpad" {
			flags.Sum.Format = layout
		}
		if err := flags.Begin(cmd); err != nil {
			return err
		}
		defer flags.End(cmd)
		if layout == "breakpad" && (flags.JSON || flags.Sum.Any() || flags.View.Any()) {
			return exit.Misuse(fmt.Errorf("--format %s: want sfwalk, or breakpad without --json, --merge, --tree, --outer, --modules and --source", layout))
		}
		if dumps, many, err := dumpsIn(args[0], cmd.InOrStdin()); err != nil {
			return err
		} else if many {
			if flags.Sum.Any() || flags.Sum.Output != "" {
				return exit.Misuse(errors.New("many dumps are printed as lines of JSON: give one for --merge, --tree, --format and --output"))
			}
			if info || layout == "breakpad" {
				return exit.Misuse(errors.New("many dumps are printed as JSON: give one for --info and --format"))
			}
			return runBatch(cmd, dumps, opts, microdump, &flags)
		}
		if info && (flags.Sum.Any() || layout == "breakpad") {
			return exit.Misuse(errors.New("--info walks no stacks: give it without --merge, --tree, --goroutines and --format"))
		}
		dump, err := openDump(args[0], microdump)
		if err != nil {
			return kinds.Explain(err, cmd.Name(), args[0])
		}
		defer dump.Close()
		if info {
			for _, w := range dump.Warnings {
				cmdline.Warn(cmd, w)
			}
			out, end, err := flags.Sum.Open(cmd)
			if err != nil {
				return err
			}
			if flags.JSON {
				err = printInfoJSON(out, args[0], dump)
			} else {
				err = printInfo(out, dump)
			}
			return end(err)
		}
		printed := &show.Stacks{Flags: &flags}
		if layout == "breakpad" {
			printed.Printer = func() report.Printer { return &breakpadPrinter{dump: dump, store: flags.SymbolDirs} }
		}
		opts.Beside, opts.TrustPaths = filepath.Dir(args[0]), flags.Debug.Trust
		t, err := minidump.New(dump, opts)
		if err != nil {
			return showUnwalked(cmd, args[0], dump, err, printed)
		}
		s := newDumpSource(args[0], t, opts.Sysroot, &flags)
		defer s.Close()
		return printed.Show(cmd, s)
	}
	cmd.Flags().IntVar(&microdump, "microdump", 0, "which of a log's microdumps, from 1 on (default: the last that is whole)")
	cmd.Flags().StringVar(&layout, "format", "sfwalk", "sfwalk (text), or breakpad: the records of minidump_stackwalk -m; or "+report.FormatHelp)
	cmd.Flags().BoolVar(&info, "info", false, "print what is in the dump, as text or with --json as JSON, and walk no stacks")
	flags.Scan = true
	flags.Add(cmd, host)
	cmdline.Files(cmd, &opts.Exe, &opts.Sysroot)
	return cmd
}

// openDump opens a minidump, or one of the microdumps of a log: the last whole one if number is 0.
func openDump(path string, number int) (*format.File, error) {
	dump, err := format.Open(path)
	if !errors.Is(err, format.ErrNot) {
		return dump, err
	}
	list, inLog := format.OpenMicrodumps(path)
	switch {
	case len(list) == 0 && errors.Is(inLog, format.ErrNot):
		return nil, err
	case len(list) == 0:
		return nil, inLog
	case number == 0:
		dump = lastMicrodump(list)
	case number < 0 || number > len(list):
		return nil, exit.Misuse(fmt.Errorf("--microdump %d: %s has %d", number, path, len(list)))
	default:
		dump = list[number-1]
	}
	if inLog != nil {
		dump.Warnings = append(dump.Warnings, fmt.Sprintf("%v: microdumps behind that are not read", inLog))
	}
	return dump, nil
}

// lastMicrodump returns the last microdump with registers: a log may end in the middle of one.
func lastMicrodump(list []*format.File) *format.File {
	for _, f := range slices.Backward(list) {
		if f.Threads[0].Context.Size > 0 {
			return f
		}
	}
	return list[len(list)-1]
}

// dumpSource is a minidump as a source.
type dumpSource struct {
	*minidump.Target
	report.Origin
	path   string
	store  string             // of symbol files; "" if there is none
	shared *symbol.Symbolizer // of dumps that are read at the same time; nil if it is one dump
}

func newDumpSource(path string, t *minidump.Target, root string, flags *report.Flags) *dumpSource {
	return &dumpSource{Target: t, path: path, store: flags.SymbolDirs, Origin: report.Origin{
		Process: hosts.Process{PID: t.Dump.PID(), Root: root},
		Root:    root, InputSize: files.OnDisk(path), Opener: t.Dump.OpenNamed,
		Windows:   t.Dump.System.Known && t.Dump.System.OS.IsWindows(),
		FileFlags: "--symbols DIR, a folder of Breakpad's symbol files, or --sysroot DIR, where the files of the process are",
	}}
}

// About implements [report.Source].
func (s *dumpSource) About(doc *report.Document) { aboutDump(doc, s.path, s.Dump) }

// After implements [report.Finisher].
func (s *dumpSource) After(doc *report.Document) { markSymbols(doc.Modules, s.Modules(), s.store) }

// Mark implements [report.Marker].
func (s *dumpSource) Mark(of target.Thread, th *report.Thread) {
	x := of.(*minidump.Thread)
	th.Died, th.Index = x.Died, x.Index
}

// Languages implements [report.Decorated].
func (s *dumpSource) Languages(of target.Thread) []byte { return s.Target.Languages.Threads[of.ID()] }

// Tasks implements [report.TaskSaver].
func (s *dumpSource) Tasks() []byte { return s.Target.Languages.Tasks }

// Shared implements [report.Sharer].
func (s *dumpSource) Shared() *symbol.Symbolizer { return s.shared }

func aboutDump(doc *report.Document, path string, dump *format.File) {
	doc.PID, doc.CrashReport = dump.PID(), report.NewCrashReport(path, dump)
	if i := dump.Main(); i >= 0 {
		doc.Exe = dump.Modules[i].Name
	}
}

// markSymbols says for each module with a frame in it where its symbols were found.
func markSymbols(list []report.ModuleEntry, modules *target.Modules, store string) {
	found := map[uint64]string{}
	for _, m := range modules.All() {
		if !m.ImageUsed() {
			continue // no frame is in it
		}
		where := "none"
		if _, _, err := m.Image(); err == nil {
			where = "file"
		} else if im, err := m.PE(); err == nil && !im.Mapped() {
			where = "file"
		}
		if store != "" {
			if symbols, _ := symbolstore.Open(store, m); symbols != nil {
				where = "symbols"
			}
		}
		found[m.Identity.Base] = where
	}
	for i := range list {
		list[i].Symbols = found[list[i].Base.V]
	}
}
