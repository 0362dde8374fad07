package symbols

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
)

func newSymbolsDump() *cobra.Command {
	var opts fromelf.Options
	var out, store string
	var headerOnly bool
	cmd := &cobra.Command{
		Use:   "dump ELF [DEBUG_DIR...]",
		Short: "Make the symbol file of an ELF file",
		Long: `dump writes the symbol file of an executable or library, as Breakpad's 'dump_syms -d' does:
functions, lines, inlined calls and the linker's symbols, from DWARF 2 to 5 and the symbol
tables; stack rules (STACK CFI) from .debug_frame and .eh_frame, or from SFrame if there is
neither. ELF is for amd64, 32-bit x86, AArch64, 32-bit ARM or s390x.

If ELF has no DWARF, dump reads the separate debug file: by its build ID and its
.gnu_debuglink, in DEBUG_DIR (or in /usr/lib/debug, if none is given), in ELF's folder and in
.debug there. Split DWARF (.dwo, .dwp) and files that dwz has shared are read, too.

The symbol file goes to standard output, to the file of -o, or to a store of symbols:
--store DIR writes DIR/NAME/ID/NAME.sym, where 'sfwalk minidump --symbols DIR',
minidump_stackwalk and symbol servers look for it. The path is printed.

What cannot be read is left out, with a warning on standard error. docs/symbol-files.md
says where the output differs from dump_syms's, and why.

Exit codes: 0 written; 1 error; 2 usage.`,
		Example: `  sfwalk symbols dump ./server > server.sym
  sfwalk symbols dump ./server --store ./symbols
  sfwalk symbols dump /bin/ls --no-cfi -o ls.sym
  sfwalk symbols dump ./server ./debug-files -o server.sym`,
		Args:   cobra.MinimumNArgs(1),
		PreRun: exit.AtOnce,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" && store != "" {
				return exit.Misuse(errors.New("symbols dump: -o and --store: want one of them"))
			}
			opts.DebugDirs = args[1:]
			if len(opts.DebugDirs) == 0 && !opts.LikeDumpSyms {
				opts.DebugDirs = []string{"/usr/lib/debug"}
			}
			err := dumpSymbols(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], out, store, headerOnly, opts)
			if errors.Is(err, fromelf.ErrLarge) {
				err = fmt.Errorf("%w: allow more by --max-size SIZE", err)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], kinds.Explain(err, "symbols", args[0]))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "the file to write; - for standard output (the default)")
	f.StringVar(&store, "store", "", "a folder of symbol files, to write NAME/ID/NAME.sym to")
	f.StringVar(&opts.Name, "name", "", "the module's name (default: its soname, or the file's name)")
	f.StringVar(&opts.OS, "os", "", "the operating system: Linux or Android (default: Linux)")
	f.BoolVar(&headerOnly, "header-only", false, "write MODULE and INFO alone (dump_syms -i)")
	f.BoolVar(&opts.NoInlines, "no-inlines", false, "leave out inlined calls (dump_syms without -d)")
	f.BoolVar(&opts.NoCFI, "no-cfi", false, "leave out stack rules (dump_syms -c)")
	f.BoolVar(&opts.Multiple, "multiple", false, "mark a function that is one of several at its address with m, and leave out the others (dump_syms -m)")
	f.Var((*cmdline.Size)(&opts.MaxSize), "max-size", "how large the symbol file may be, for example 4G (default: 64M and 8 times the file's size)")
	f.BoolVar(&opts.LikeDumpSyms, "like-dump-syms", false, "leave out what dump_syms leaves out, and err where it does")
	return cmd
}

func dumpSymbols(stdout, stderr io.Writer, name, out, store string, headerOnly bool, opts fromelf.Options) error {
	if out == "-" {
		out = ""
	}
	var file *files.Saving
	if out != "" { // a mistake is said before the work
		var err error
		if file, err = files.Create("--output", out, 0o666); err != nil {
			return err
		}
		defer file.Discard()
	}
	pace.Often() // what is read is garbage soon
	d, err := fromelf.Open(name, opts)
	if err != nil {
		return exit.WithoutName(err)
	}
	defer d.Close()
	write := func(w io.Writer) (err error) {
		if headerOnly {
			return d.WriteHeader(w)
		}
		_, err = d.WriteTo(w)
		return err
	}
	if store != "" {
		inside, err := d.Module.StorePath()
		if err != nil {
			return err
		}
		out = filepath.Join(store, filepath.FromSlash(inside))
		if file, err = inStore(out); err != nil {
			return err
		}
		defer file.Discard()
	}
	if file == nil {
		err = write(stdout)
	} else {
		err = file.Write(writtenBy(write))
	}
	warnings, all := d.Warnings()
	for _, w := range warnings {
		printable.Fprintf(stderr, "sfwalk: warning: %s: %v\n", name, w)
	}
	if more := all - len(warnings); more > 0 {
		printable.Fprintf(stderr, "sfwalk: warning: %s: %s more\n", name, count.Of(more, "warning"))
	}
	switch {
	case err != nil:
		return err
	case store != "":
		printable.Fprintf(stdout, "%s\n", out)
	case out != "":
		printable.Fprintf(stderr, "%s: %s, %s, %s\n", out, count.Of(d.Funcs, "function"), count.Of(d.Publics, "other symbol"), count.Of(d.CFI, "stack rule"))
	}
	return nil
}

// inStore makes the file at path, which others may read, and the folders on the way.
func inStore(path string) (*files.Saving, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	f, err := files.Create("--store", path, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Tmp.Chmod(0o644); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// writtenBy is [files.Content] by a function.
type writtenBy func(io.Writer) error

// Write implements [files.Content].
func (w writtenBy) Write(out io.Writer) error { return w(out) }
