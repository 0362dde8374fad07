package sframe

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/format/sframe/separate"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/printable"
)

func newSFrameGen() *cobra.Command {
	var out string
	var format uint8
	var verbose bool
	cmd := &cobra.Command{
		Use:   "gen FILE -o OUT",
		Short: "Make an SFrame section from a file's DWARF call frame information",
		Long: `gen turns the .eh_frame of FILE, or its .debug_frame, into SFrame, for programs and
libraries whose toolchain writes no SFrame. FILE is an executable, a shared library
or a separate debug file, for amd64, AArch64 or s390x.

OUT is a small ELF file with FILE's build ID and the section. If OUT is an
existing folder, the file is OUT/.build-id/ab/cdef….sframe, where
'sfwalk attach --sframe-dir OUT' finds it. 'readelf --sframe=.sframe OUT' prints
it, and 'objcopy -O binary -j .sframe OUT BYTES' extracts the bare section.

gen leaves out functions that SFrame cannot describe, and counts them on standard
error; their frames are unwound by DWARF, or by Go's table, as before. It marks signal trampolines in V3.

Exit codes: 0 written; 1 error; 2 usage.`,
		Example: `  sfwalk sframe gen /bin/ls -o ls.sframe
  sfwalk sframe gen /bin/ls -o ls.sframe --format 2 --verbose`,
		Args:   cobra.ExactArgs(1),
		PreRun: exit.AtOnce,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case out == "":
				return exit.Misuse(errors.New("sframe gen: -o OUT is missing: the file to write, or a folder of such files"))
			case out == "-" && term.IsTerminal(int(os.Stdout.Fd())):
				return exit.Misuse(errors.New("sframe gen: SFrame files are not for terminals: give -o FILE"))
			case format != 2 && format != 3:
				return exit.Misuse(fmt.Errorf("--format %d: want 2 or 3", format))
			}
			if err := generate(cmd, args[0], out, sframe.Version(format), verbose); err != nil {
				return fmt.Errorf("%s: %w", args[0], kinds.Explain(err, "sframe", args[0]))
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "the file to write, or a folder to write it to, by its build ID; - for standard output")
	f.Uint8Var(&format, "format", 3, "version of the SFrame format: 2 or 3")
	f.BoolVarP(&verbose, "verbose", "v", false, "list every function that is left out")
	return cmd
}

func generate(cmd *cobra.Command, name, out string, v sframe.Version, verbose bool) error {
	im, file, err := openELF(name)
	if err != nil {
		return err
	}
	defer file.Close()
	of, err := im.Standard()
	if err != nil {
		return err
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		paths := separate.Paths(out, separate.BuildID(of))
		if paths == nil {
			return fmt.Errorf("%w: link it with -Wl,--build-id, or let -o name a file and not a folder", separate.ErrNoBuildID)
		}
		out = paths[0]
		if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	var to *files.Saving
	if out != "-" { // a mistake is said before the work
		if to, err = files.Create("--output", out, 0o666); err != nil {
			return err
		}
		defer to.Discard()
	}
	if im.Type == elf.ET_REL {
		return separate.ErrRelocatable
	}
	source, err := fromcfi.Open(im)
	if err != nil {
		return err
	}
	contents, left := source.Contents()
	left = append(left, leaveOutInjected(im, contents)...)
	contents, more, err := fromcfi.Fit(contents, v)
	if err != nil {
		return err
	}
	left = append(left, more...)
	data, err := separate.Encode(of, contents)
	if err != nil {
		return err
	}
	if out == "-" {
		out = "standard output"
		_, err = cmdline.Unescaped(cmd).Write(data)
	} else {
		_, err = to.Begin().Write(data)
		err = to.End(err)
	}
	if err != nil {
		return err
	}
	rows := 0
	for i := range contents.Functions {
		rows += len(contents.Functions[i].Entries)
	}
	report := cmd.ErrOrStderr()
	printable.Fprintf(report, "%s: SFrame V%d, %s, %s\n", out, v, count.Of(len(contents.Functions), "function"), count.Of(rows, "row"))
	reportLeftOut(report, left, verbose)
	return nil
}

// leaveOutInjected takes functions out of contents that Go's runtime makes a thread call at an
// instruction that is no call: the frame behind has other registers than their rows say. Package
// goruntime knows which.
func leaveOutInjected(im *elfimage.Image, contents *sframe.Contents) (left []fromcfi.LeftOut) {
	for _, name := range slices.Sorted(maps.Keys(goruntime.Injected)) {
		for _, symbol := range slices.Concat(im.Lookup(name, 1), im.Lookup(name+".abi0", 1)) {
			contents.Functions = slices.DeleteFunc(contents.Functions, func(f sframe.Function) bool {
				if f.Start != symbol.Addr {
					return false
				}
				left = append(left, fromcfi.LeftOut{
					Start: f.Start, Size: uint64(f.Size), PC: f.Start, Reason: "a call that Go's runtime has put in", Detail: name,
				})
				return true
			})
		}
	}
	return left
}

// reportLeftOut counts functions by the reason for which they are left out, the
// commonest first.
func reportLeftOut(w io.Writer, left []fromcfi.LeftOut, verbose bool) {
	if len(left) == 0 {
		return
	}
	reasons := map[string]int{}
	for _, l := range left {
		reasons[l.Reason]++
	}
	var order []string
	for r := range reasons {
		order = append(order, r)
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(reasons[b]-reasons[a], cmp.Compare(a, b)) })
	printable.Fprintf(w, "left out: %d\n", len(left))
	for _, r := range order {
		printable.Fprintf(w, "%6d  %s\n", reasons[r], r)
		if !verbose {
			continue
		}
		for _, l := range left {
			if l.Reason == r {
				printable.Fprintf(w, "%8s%s\n", "", l)
			}
		}
	}
}
