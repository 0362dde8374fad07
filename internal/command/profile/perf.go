package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/target"
)

// perfFlags are the flags of perf.
type perfFlags struct {
	report.Flags
	profileFlags
	event   string
	caches  []string
	sysroot string
	pages   pageFlags
}

// NewPerf makes the verb perf.
func NewPerf(host hosts.Plugins, web PageServer) *cobra.Command {
	var flags perfFlags
	var input string // as perf report has it, in place of the argument
	cmd := &cobra.Command{
		Use:   "perf FILE",
		Short: "Read what perf record has written",
		Long: `perf reads a file that Linux's perf record has written, and writes how often each stack was
found, as record does. It walks the copies of stacks that perf record --call-graph dwarf has taken, with the same
sniffers as attach, in a fraction of the time that perf takes for that. With --call-graph fp (or fp,defer), there
are the stacks that the kernel has found along frame pointers; without --call-graph, single instructions.

Files of amd64, arm64, s390x, 32-bit x86 and 32-bit arm are read on any machine, also files of perf record -z. A file
whose writer was killed is read as far as it goes. A record that does not parse is left out, and counted. The name -
stands for what perf record -o - writes to a pipe.

The programs and libraries are looked for in perf's build-id cache (--buildid-dir, by default ~/.debug; perf archive packs
what another machine needs of it), in --debug-dir by build ID, below --sysroot, and at their paths. A file
that is of another build than the recorded one is not used, and a warning says so.

A file may have samples of several events: --event chooses one, by default the first.

With --http, a browser sees the profile in pprof's own pages, until Ctrl-C, and --base FILE shows what has changed since an earlier
profile, as record does.

Exit codes: 0 the profile is written; 1 error; 2 usage.`,
		Example: `  sfwalk perf perf.data
  sfwalk perf perf.data -o profile.svg
  sfwalk perf perf.data --format folded -o - | sort -k2 -n
  perf record --call-graph dwarf -o - ./server | sfwalk perf - -o profile.pb.gz
  sfwalk perf perf.data --event page-faults
  sfwalk perf perf.data --http localhost:0 --base before.pb.gz
  sfwalk perf perf.data --buildid-dir ./debug --sysroot /srv/arm64-root`,
		Args: func(cmd *cobra.Command, args []string) error {
			if input != "" {
				args = append([]string{input}, args...)
			}
			if len(args) == 2 && input != "" {
				return exit.Misuse(fmt.Errorf("perf: %q is one argument too many", args[1]))
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if input != "" {
				args = []string{input}
			}
			if err := flags.pages.check(); err != nil {
				return err
			}
			flags.none = flags.pages.listen != ""
			if err := flags.profileFlags.check(); err != nil {
				return err
			}
			switch {
			case !flags.none:
				exit.AtOnce(cmd, args)
			case web == nil:
				return hosts.BecomeFull()
			}
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			return flags.run(cmd, web, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&input, "input", "i", "", "the `FILE`: the same as the argument")
	f.StringVarP(&flags.event, "event", "e", "", "the event whose samples count, by its name in the file (default the first)")
	cmdline.Texts(f, &flags.caches, "buildid-dir", "a folder of files by build ID, as perf has them; repeatable (default ~/.debug)")
	f.StringVar(&flags.sysroot, "sysroot", "", "the folder below which the recorded machine's files are; links do not lead out of it, as after chroot")
	flags.pages.add(cmd, "")
	flags.profileFlags.add(cmd, ", with --http none")
	f.BoolVar(&flags.NoLines, "no-lines", false, "name functions alone, without files, lines and inlined calls")
	f.BoolVar(&flags.NoCache, "no-cache", false, "neither use nor keep anything below the user's cache folder")
	flags.Choice.Add(cmd, host)
	flags.Debug.Add(cmd, host)
	flags.Debug.AddTrust(cmd)
	flags.Color = "never"
	return cmd
}

// run reads a file, and writes or shows the profile.
func (r *perfFlags) run(cmd *cobra.Command, web PageServer, name string) error {
	said := name
	if name == "-" {
		said = "standard input"
	}
	failed := func(err error) error { return fmt.Errorf("perf: %s: %w", said, err) }
	in, size, err := openPerf(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer in.Close()
	var data *perfdata.Reader
	if at, ok := in.(io.ReaderAt); ok && size >= 0 {
		data, err = perfdata.Open(at, size)
	} else {
		data, err = perfdata.Stream(in)
	}
	if err != nil {
		if size >= 0 && name != "-" {
			err = kinds.Explain(err, cmd.Name(), name)
		}
		return failed(err)
	}
	if data.Directory {
		return failed(errors.New("perf record --threads has written several files, which are not read: record without --threads"))
	}
	var open elf.Opener
	input := int64(0)
	if f, ok := in.(*os.File); ok {
		input = max(0, elffile.There(f, size))
		if !r.Debug.Trust {
			open = regular.Word{Here: regular.OwnerOf(f)}.Open
		}
	}
	file, err := r.open()
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Discard()
	}
	var browsers PageListener
	if r.pages.listen != "" {
		if browsers, err = web.Listen(r.pages.listen, r.pages.base); err != nil {
			return err
		}
		defer browsers.Close()
	}
	var warnings warningList
	targets.ShortSlices()
	recorded, err := record.ReadFile(data, record.FileOptions{
		Event:  r.event,
		Size:   input,
		Places: record.Places{Caches: r.cachesInOrder(), DebugDirs: r.Debug.DirsInOrder(), Sysroot: r.sysroot, Open: open},
		Own: func(info perfdata.Info) bool {
			own, err := os.Hostname()
			return err == nil && (info.Hostname == own || info.Hostname == "")
		},
		Table: func(pid int, a *arch.Arch) *frame.Table {
			return r.Table(a, false, r.Plugins.About(hosts.Process{PID: pid, Root: r.sysroot}))
		},
		Warn: warnings.add,
	})
	if recorded != nil {
		defer recorded.Close()
	}
	if err != nil {
		return failed(err)
	}
	profile := recorded.Profile()
	named := report.OpenNamed(open)
	symbols := report.NewSymbolizer(func(*target.Module) string { return r.sysroot }, named, &r.Flags, false)
	defer symbols.Close()
	shown := &shown{namer: record.NewNamer(symbols), symbols: symbols, profile: profile, open: named}
	shown.namer.MaxText = r.profileText(input) / 2 // so a stack with all names fits in
	shown.stacks = shown.namer.Picture(profile)
	shown.stacks.MaxText = r.profileText(input)
	shown.stacks.Title = strings.Join(data.Info.Command, " ")
	if err := r.write(cmd, file, shown.stacks); err != nil {
		return err
	}
	for _, text := range slices.Concat(warnings, r.lacks(shown.stacks, shown), shown.warnings(), r.Warned()) {
		cmdline.Warn(cmd, text)
	}
	for _, l := range shown.hints(shown.stacks, &r.Flags, hints.About{Root: r.sysroot, FileFlags: "--sysroot DIR, the folder that stands for the root of the recorded machine"}) {
		cmdline.Hint(cmd, l.String())
	}
	r.report(cmd.ErrOrStderr(), data, recorded, profile)
	if browsers == nil {
		return nil
	}
	printable.Fprintf(cmd.OutOrStdout(), "See %s\n", browsers.Address())
	return browsers.Serve(cmd.Context(), shown.pages(cmd))
}

// openPerf opens a file, or what comes through a pipe: then size is -1.
func openPerf(name string, stdin io.Reader) (in io.ReadCloser, size int64, err error) {
	file, isFile := stdin.(*os.File)
	if name != "-" {
		if info, err := os.Stat(name); err != nil {
			return nil, 0, fmt.Errorf("perf: %w", err)
		} else if info.IsDir() {
			name = filepath.Join(name, "data") // as perf record --kcore has it
			if _, err := os.Stat(name); err != nil {
				return nil, 0, fmt.Errorf("perf: a folder without the file that perf record writes there: %w", err)
			}
		} else if info.Mode()&fs.ModeNamedPipe != 0 {
			pipe, err := os.Open(name)
			if err != nil {
				return nil, 0, fmt.Errorf("perf: %w", err)
			}
			return pipe, -1, nil
		}
		if file, err = regular.Open(name); err != nil {
			return nil, 0, fmt.Errorf("perf: %s: %w", name, err)
		}
	} else if !isFile {
		return io.NopCloser(stdin), -1, nil
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("perf: %w", err)
	case term.IsTerminal(int(file.Fd())):
		return nil, 0, exit.Misuse(errors.New("-: standard input is a terminal: write to it by perf record -o -"))
	case !info.Mode().IsRegular():
		return file, -1, nil
	}
	return file, info.Size(), nil
}

// cachesInOrder returns the folders that are laid out as perf's build-id cache.
func (r *perfFlags) cachesInOrder() []string {
	if len(r.caches) > 0 {
		return r.caches
	}
	if home, err := os.UserHomeDir(); err == nil {
		return []string{filepath.Join(home, ".debug")}
	}
	return nil
}

// report says what the file has.
func (r *perfFlags) report(out io.Writer, data *perfdata.Reader, f *record.File, p *record.Profile) {
	printable.Fprintf(out, "%s", counted(p, " of "+p.Event.Name))
	if n := p.Stats.Unwalked; n > 0 {
		printable.Fprintf(out, "; %d %s that the kernel has found along frame pointers", n, count.Verb(n, "has the stack", "have the stacks"))
	}
	if n := p.Stats.Bounded; n > 0 {
		printable.Fprintf(out, "; %d of them %s as many frames as the kernel looks for at most: outer ones may be lacking", n, count.Verb(n, "has", "have"))
	}
	if n := p.Stats.Unfollowed; n > 0 {
		printable.Fprintf(out, "; %d %s frames of the program that were to follow in other records (some releases of perf inject lose these)", n, count.Verb(n, "lacks", "lack"))
	}
	if n := p.Stats.Bare; n > 0 {
		printable.Fprintf(out, "; %d %s: perf record --call-graph dwarf takes them", n, count.Verb(n, "has no stack", "have no stacks"))
	}
	for _, other := range f.Others {
		printable.Fprintf(out, "; %s of %s %s left out (--event %s)", count.Of(other.Samples, "sample"), other.Name, count.Verb(other.Samples, "is", "are"), other.Name)
	}
	for _, x := range []struct {
		n          uint64
		what, then string
	}{{data.Unknown, "sample", count.Verb(data.Unknown, "is", "are") + " of no event that the file has"}, {data.Late, "record", "came too late for " + count.Verb(data.Late, "its", "their") + " time"}} {
		if x.n > 0 {
			printable.Fprintf(out, "; %s %s", count.Of(x.n, x.what), x.then)
		}
	}
	if data.Unfinished {
		printable.Fprintf(out, "; the file has no end: perf record was killed, or the file is cut")
	}
	if r.output != "-" && r.output != "" {
		printable.Fprintf(out, "; written to %s", r.output)
	}
	printable.Fprintf(out, "\n")
}

// warningList are warnings, each once.
type warningList []string

func (w *warningList) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(*w, text):
	case len(*w) < maxWarnings:
		*w = append(*w, text)
	case len(*w) == maxWarnings:
		*w = append(*w, fmt.Sprintf("there are more warnings than %d: further ones are left out", maxWarnings))
	}
}
