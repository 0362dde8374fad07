package symbols

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/regular"
)

func newSymbolsCheck() *cobra.Command {
	var dirs []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE [BINARY]",
		Short: "Say what is wrong with a symbol file",
		Long: `check reads a symbol file and lists what is wrong with it, by line: malformed records;
FUNCs, lines and stack rules that overlap, or lie outside of what they belong to; numbers
of files and inlined functions that are not there; lines and STACK CFI out of order; the same
PUBLIC twice; STACK CFI that cannot be computed.

With BINARY, the ELF file that the symbols are of, check also compares STACK CFI with
the binary's own .debug_frame and .eh_frame, at each address where either changes, and lists
each stretch of code where they differ, with the rules of both. Rules agree if they
compute the same, however they are written. Symbol files have no words for the end of a
stack, so a return address that the binary says is undefined is not compared.

Several functions with the same code are no fault: the linker has folded them. Nor
are stack rules that are there twice, if they are the same.

Exit codes: 0 nothing is wrong; 1 something is; 2 usage, or a file cannot be read.`,
		Example: `  sfwalk symbols check server.sym
  sfwalk symbols check server.sym ./server
  sfwalk symbols check server.sym --json | jq '.problems[].text'`,
		Args:   cobra.RangeArgs(1, 2),
		PreRun: exit.AtOnce,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			c, err := checkedSymbols(args[0])
			fine := err == nil && len(c.Problems)+c.Dropped == 0
			var x *comparedSymbols
			switch {
			case err != nil:
			case !asJSON:
				printChecked(out, args[0], c)
				fallthrough
			default:
				if len(args) > 1 {
					if len(dirs) == 0 {
						dirs = []string{"/usr/lib/debug"}
					}
					x, err = compareSymbols(args[0], args[1], dirs)
				}
			}
			if x != nil {
				defer x.file.Close()
				fine = fine && len(x.Disagreements) == 0
				if !asJSON {
					x.print(out)
				}
				if len(x.Problems) > 0 {
					err = fmt.Errorf("%s could not be read", count.Of(len(x.Problems), "part"))
				}
			}
			if asJSON && c != nil && (err == nil || x != nil) {
				err = errors.Join(err, json.NewEncoder(out).Encode(newSymbolsCheckDocument(args[0], c, x)))
			}
			if err := errors.Join(err, out.Flush()); err != nil {
				return exit.With(exit.Trouble, fmt.Errorf("%s: %w", args[0], kinds.Explain(err, "symbols", args[0])))
			}
			if !fine {
				return exit.With(exit.Disagree, nil)
			}
			return nil
		},
	}
	cmdline.Texts(cmd.Flags(), &dirs, "debug-dir", "a folder of separate debug files of BINARY (default: /usr/lib/debug)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	return cmd
}

// shownProblems is how many problems are printed.
const shownProblems = 100

// checkedSymbols checks a symbol file alone.
func checkedSymbols(name string) (*breakpad.Checked, error) {
	file, err := regular.Open(name)
	if err != nil {
		return nil, exit.WithoutName(err)
	}
	defer file.Close()
	c, err := breakpad.Check(file)
	if err != nil {
		return nil, exit.WithoutName(err)
	}
	if c.Module == (breakpad.Module{}) {
		return nil, breakpad.ErrNoModule
	}
	return c, nil
}

func printChecked(w io.Writer, name string, c *breakpad.Checked) {
	for _, p := range c.Problems[:min(len(c.Problems), shownProblems)] {
		printable.Fprintf(w, "%s:%d: %s\n", name, p.Line, p.Text)
	}
	kinds, order := map[string]int{}, []string(nil)
	for _, p := range c.Problems {
		if kinds[p.Kind]++; kinds[p.Kind] == 1 {
			order = append(order, p.Kind)
		}
	}
	all := len(c.Problems) + c.Dropped
	if all > 0 {
		printable.Fprintf(w, "\n%s: %s\n", name, count.Of(all, "problem"))
		for _, k := range order {
			printable.Fprintf(w, "%8d  %s\n", kinds[k], k)
		}
		if c.Dropped > 0 {
			printable.Fprintf(w, "%8d  more\n", c.Dropped)
		}
	} else {
		printable.Fprintf(w, "%s: nothing is wrong\n", name)
	}
	printable.Fprintf(w, "%s %s %s %s: %s, %s, %s, %s, %s\n", c.Module.OS, c.Module.Arch, c.Module.ID, c.Module.Name,
		count.Of(c.Funcs, "FUNC"), count.Of(c.FuncLines, "line"), count.Of(c.Inlines, "INLINE"), count.Of(c.Publics, "PUBLIC"),
		count.Of(c.CFI, "STACK CFI INIT"))
}

// comparedSymbols is a symbol file whose stack rules were compared with the binary's.
type comparedSymbols struct {
	*fromelf.Comparison
	file   *breakpad.File
	binary string
}

// compareSymbols compares the stack rules of a symbol file with the binary's. The caller closes the
// file.
func compareSymbols(name, binary string, dirs []string) (*comparedSymbols, error) {
	d, err := fromelf.Open(binary, fromelf.Options{DebugDirs: dirs})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, exit.WithoutName(err))
	}
	defer d.Close()
	f, err := breakpad.Open(name)
	if err != nil {
		return nil, exit.WithoutName(err)
	}
	c, err := d.Compare(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	return &comparedSymbols{c, f, binary}, nil
}

// place returns the function that a disagreement begins in, and the distance from its beginning; ""
// if it is in none.
func (c *comparedSymbols) place(x *fromelf.Disagreement) (function string, offset uint64) {
	if at, err := c.file.Locate(x.Lo); err == nil && len(at) > 0 {
		last := at[len(at)-1]
		return last.Function, x.Lo - last.Code.Address
	}
	return "", 0
}

func (c *comparedSymbols) print(w io.Writer) {
	printable.Fprintf(w, "\n")
	for i := range c.Disagreements[:min(len(c.Disagreements), shownProblems)] {
		x, where := &c.Disagreements[i], ""
		if function, offset := c.place(x); function != "" {
			where = fmt.Sprintf(" %s+%#x", function, offset)
		}
		printable.Fprintf(w, "%x..%x %s: %s differs\n    file    %s\n    binary  %s\n", x.Lo, x.Hi, where, strings.Join(x.Registers, " "), x.File, x.Binary)
	}
	for _, p := range c.Problems {
		printable.Fprintf(w, "cannot be read: %v\n", p)
	}
	switch n := len(c.Disagreements) + c.Dropped; {
	case n > 0:
		printable.Fprintf(w, "%s: STACK CFI and the binary DISAGREE, in %s of code, of %s compared\n", c.binary, count.Of(n, "place"), count.Of(c.Compared, "byte"))
	default:
		printable.Fprintf(w, "%s: STACK CFI and the binary agree, for all %s compared\n", c.binary, count.Of(c.Compared, "byte"))
	}
	if c.Missing > 0 {
		printable.Fprintf(w, "%s of code have rules in the binary alone\n", count.Of(c.Missing, "byte"))
	}
	if c.Outermost > 0 {
		printable.Fprintf(w, "%s of outermost frames: the return address is not compared\n", count.Of(c.Outermost, "byte"))
	}
}
