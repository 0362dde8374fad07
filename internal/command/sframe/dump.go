package sframe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/sframe/object"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/regular"
)

func newSFrameDump() *cobra.Command {
	var asJSON bool
	var most cmdline.Size
	var section string
	cmd := &cobra.Command{
		Use:   "dump FILE",
		Short: "Print a file's SFrame section",
		Long: `dump prints the SFrame sections of FILE: an executable, a shared library, a
relocatable object (whose functions are at their offsets in their sections), or
the bare bytes of a section.

The text is the text of 'readelf --sframe', line for line: V1 as binutils 2.40 prints
it, V2 as 2.44, V3 as 2.47. Relocations are applied in all versions, which only
2.47 does. In a row, "c-16" is memory at CFA-16, "(fp-8)" is memory at fp-8, "u" is
an unchanged register, "f" a register at the fixed offset of the header, "U" the
placeholder for that. "[s]" marks a signed return address. "[m]" in the head of a
table says that its offsets repeat block by block.

A document (--json) of more than 64 MiB is cut, and says so; sections of more than 1 MiB
have 128 bytes more for each further byte. --max-size allows more.

Exit codes: 0 printed; 1 FILE cannot be read or has no SFrame, or parts of it are
malformed (the others are printed), or the document is cut; 2 usage.`,
		Example: `  sfwalk sframe dump FILE
  sfwalk sframe dump FILE --json | jq '.sections[].fdes[] | select(.fde_type.name | endswith("FLEX")) | .start'`,
		Args:   cobra.ExactArgs(1),
		PreRun: exit.AtOnce,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := dumpFile(cmd.OutOrStdout(), args[0], section, asJSON, int64(most)); err != nil {
				return fmt.Errorf("%s: %w", args[0], kinds.Explain(err, "sframe", args[0]))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON document with all fields (see docs/json.md)")
	f.StringVar(&section, "section", "", "only the section of this `name` (default: all SFrame sections)")
	f.Var(&most, "max-size", "how large the JSON document may be, for example 4G (default: 64M, and 128 times what the sections have beyond 1M)")
	return cmd
}

func dumpFile(w io.Writer, name, only string, asJSON bool, most int64) error {
	f, err := regular.Open(name)
	if err != nil {
		return exit.WithoutName(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sections, err := object.Read(f, info.Size())
	if errors.Is(err, object.ErrNoSFrame) {
		return fmt.Errorf("%w: assemble with -Wa,--gsframe, or make one with 'sfwalk sframe gen'", err)
	}
	err = exit.WithoutName(err)
	if only != "" {
		sections = slices.DeleteFunc(sections, func(s object.Section) bool { return s.Name != only })
		if len(sections) == 0 && err == nil {
			return fmt.Errorf("no SFrame section is named %s", only)
		}
	}
	out := bufio.NewWriter(w)
	print := dumpText
	if asJSON {
		print = func(w *bufio.Writer, sections []object.Section) error { return dumpJSON(w, name, sections, most) }
	}
	if len(sections) > 0 {
		err = errors.Join(print(out, sections), err)
	}
	return errors.Join(err, out.Flush())
}

func dumpText(w *bufio.Writer, sections []object.Section) error {
	var errs []error
	for _, s := range sections {
		what := "section " + s.Name
		if s.Name == "" {
			what = "segment PT_GNU_SFRAME"
		}
		printable.Fprintf(w, "Contents of the SFrame %s:\n", what)
		errs = append(errs, s.Dump(w))
	}
	return errors.Join(errs...)
}
