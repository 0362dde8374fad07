package sframe

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
	"github.com/sfwalk/sfwalk/symbol"
)

func newSFrameVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Compare a file's SFrame section with its DWARF call frame information",
		Long: `verify compares every row of FILE's SFrame section with the rows of its
.eh_frame (or .debug_frame), over all executable code, and lists each stretch of
code where they differ, with both rows. In a row, sp and fp are the stack pointer
and the frame pointer; other registers have their DWARF numbers.

Where they differ, trust DWARF. Known causes: binutils 2.40 to 2.45 write wrong rows
where SFrame V1 and V2 cannot express the CFA or RA (in a register that they cannot
name or, on amd64, RA in another place than a call leaves it in), and linkers
describe the stubs in .plt.got and .plt.sec like those in .plt.

Code that only one of them covers is counted, and is no disagreement. Outermost
frames are not compared in versions that cannot mark them: V1, and V2 without the
flag SFRAME_F_FDE_FUNC_START_PCREL.

Exit codes: 0 they agree; 1 they disagree; 2 usage, or FILE cannot be read, has
no SFrame or no call frame information, or parts of them are malformed.`,
		Example: `  sfwalk sframe verify FILE
  sfwalk sframe verify FILE --json | jq '.disagreements[].function'`,
		Args:   cobra.ExactArgs(1),
		PreRun: exit.AtOnce,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := verifyFile(args[0])
			if err != nil {
				return exit.With(exit.Trouble, fmt.Errorf("%s: %w", args[0], kinds.Explain(err, "sframe", args[0])))
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			if asJSON {
				err = json.NewEncoder(out).Encode(newVerifyDocument(args[0], r))
			} else {
				printVerify(out, args[0], r)
			}
			if err := errors.Join(err, out.Flush()); err != nil {
				return exit.With(exit.Trouble, err)
			}
			switch {
			case len(r.Problems) > 0:
				return exit.With(exit.Trouble, fmt.Errorf("%s: %s could not be read", args[0], count.Of(len(r.Problems), "part")))
			case len(r.Disagreements) > 0:
				return exit.With(exit.Disagree, nil)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	return cmd
}

func verifyFile(name string) (*sframeverify.Result, error) {
	im, file, err := openELF(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return sframeverify.File(im)
}

// ruleText writes a rule with names for SP and FP.
func ruleText(abi sframe.ABI, r sframe.Rule) string {
	reg := fmt.Sprintf("r%d", r.Reg)
	switch r.Reg {
	case abi.SP():
		reg = "sp"
	case abi.FP():
		reg = "fp"
	}
	switch r.Kind {
	case sframe.RuleInReg:
		return fmt.Sprintf("%s%+d", reg, r.Off)
	case sframe.RuleSavedAt:
		return fmt.Sprintf("[%s%+d]", reg, r.Off)
	}
	return r.String()
}

// rowText writes a row's rules, aligned with another row's.
func rowText(abi sframe.ABI, r *sframe.Row, reason string) string {
	if r.Flags&sframe.RowOutermost != 0 {
		return "outermost"
	}
	text := fmt.Sprintf("CFA=%-10s RA=%-10s FP=%-10s", ruleText(abi, r.CFA), ruleText(abi, r.RA), ruleText(abi, r.FP))
	if r.Flags&sframe.RowMangledRA != 0 {
		text += " mangled RA"
		if r.Flags&sframe.RowPauthB != 0 {
			text += " (key B)"
		}
	}
	if r.Flags&sframe.RowSignal != 0 {
		text += " signal"
	}
	if reason != "" {
		text += " (" + reason + ")"
	}
	return strings.TrimRight(text, " ")
}

// place names where a disagreement is.
func place(d *sframeverify.Disagreement) string {
	if d.Function == "" {
		return ""
	}
	name := symbol.Demangle(d.Function)
	if d.Offset > 0 {
		name += fmt.Sprintf("+%#x", d.Offset)
	}
	return name
}

func printVerify(w io.Writer, name string, r *sframeverify.Result) {
	for i := range r.Disagreements {
		d := &r.Disagreements[i]
		printable.Fprintf(w, "%#x..%#x  %s: %s differs", d.Lo, d.Hi, place(d), d.Fields)
		if d.Times > 1 {
			printable.Fprintf(w, ", in %d blocks", d.Times)
		}
		reason := d.CFI.Reason
		if d.CFI.Detail != "" {
			reason += ": " + d.CFI.Detail
		}
		printable.Fprintf(w, "\n    SFrame  %s   (FDE %d)\n    DWARF   %s\n", rowText(r.ABI, &d.SFrame, ""), d.FDE, rowText(r.ABI, &d.CFI.Row, reason))
	}
	if r.Dropped > 0 {
		printable.Fprintf(w, "%s not listed\n", count.Of(r.Dropped, "more disagreement"))
	}
	for _, p := range r.Problems {
		printable.Fprintf(w, "cannot be read: %v\n", p)
	}
	if len(r.Disagreements)+len(r.Problems) > 0 {
		printable.Fprintf(w, "\n")
	}
	printable.Fprintf(w, "%s: ", name)
	switch n := uint64(len(r.Disagreements) + r.Dropped); {
	case n > 0:
		printable.Fprintf(w, "SFrame and DWARF DISAGREE: %s, in %s of %d compared\n", count.Of(n, "disagreement"), count.Of(r.Differing, "byte"), r.Compared)
	case r.Compared == 0:
		printable.Fprintf(w, "nothing to compare: SFrame and DWARF speak of no code that is the same\n")
	default:
		printable.Fprintf(w, "SFrame and DWARF agree, for all %s compared\n", count.Of(r.Compared, "byte"))
	}
	if n := len(r.Versions); n > 1 {
		printable.Fprintf(w, "SFrame is in %d parts, each with a header of its own: tools that expect one read the first alone\n", n)
	}
	if r.Unsaid > 0 {
		printable.Fprintf(w, "%s of outermost frames not compared: this version of SFrame cannot mark them\n", count.Of(r.Unsaid, "byte"))
	}
	printable.Fprintf(w, "\n%-12s %12s %8s %10s\n", "covered by", "bytes", "", "functions")
	for _, line := range []struct {
		name             string
		bytes, functions uint64
	}{
		{"both", r.Bytes.Both, r.Functions.Both},
		{"SFrame only", r.Bytes.SFrameOnly, r.Functions.SFrameOnly},
		{"DWARF only", r.Bytes.CFIOnly, r.Functions.CFIOnly},
		{"neither", r.Bytes.Neither, r.Functions.Neither},
		{"all", r.Bytes.Total, r.Functions.Total},
	} {
		printable.Fprintf(w, "%-12s %12d %7.1f%% %10d\n", line.name, line.bytes, percent(line.bytes, r.Bytes.Total), line.functions)
	}
	printable.Fprintf(w, "%-12s SFrame %d, DWARF %d\n\n", "FDEs", r.SFrameFDEs, r.CFIFDEs)
	for i, v := range []uint64{r.Sizes.SFrame, r.Sizes.EHFrame, r.Sizes.EHFrameHdr, r.Sizes.DebugFrame} {
		printable.Fprintf(w, "%-13s %11d bytes\n", []string{".sframe", ".eh_frame", ".eh_frame_hdr", ".debug_frame"}[i], v)
	}
	if eh := r.Sizes.EHFrame + r.Sizes.EHFrameHdr; eh > 0 {
		printable.Fprintf(w, ".sframe has %.2f of the size of .eh_frame and .eh_frame_hdr\n", float64(r.Sizes.SFrame)/float64(eh))
	}
}

func percent(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
