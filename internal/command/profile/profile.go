package profile

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
)

// profileFlags are the flags that say where a profile is written, and how.
type profileFlags struct {
	output string // "" for none
	layout string
	none   bool         // without the flag, nothing is written
	most   cmdline.Size // of text; 0 for the usual bound
}

// usualProfile is the file of a profile that the user does not name.
const usualProfile = "sfwalk.pb.gz"

// add adds the flags; unless says when there is no usual file.
func (r *profileFlags) add(cmd *cobra.Command, unless string) {
	f := cmd.Flags()
	f.StringVarP(&r.output, "output", "o", "", "write to this file; - for standard output (default "+usualProfile+unless+")")
	f.StringVarP(&r.layout, "format", "f", "", report.Either(recordHelp))
	f.Var(&r.most, "max-size", "how much text may be written, for example 4G (default: 64M, and for a file its size more)")
}

// check finds mistakes in the flags.
func (r *profileFlags) check() error {
	if r.output == "" && !r.none {
		r.output = usualProfile
	}
	if r.output == "" {
		return nil
	}
	called := picture.FormatCalled(r.layout)
	if r.layout == "" {
		called = picture.FormatOfFile(r.output)
	}
	switch {
	case called != nil:
		r.layout = called.Name
	case r.layout != "":
		return exit.Misuse(fmt.Errorf("--format %s: want %s", r.layout, report.FormatsCalled(true)))
	default:
		return exit.Misuse(fmt.Errorf("--output %s: the name tells no format: give --format %s", r.output, strings.Join(RecordFormats, ", ")))
	}
	if f := picture.FormatNamed(r.layout); f.Binary && r.output == "-" && term.IsTerminal(int(os.Stdout.Fd())) {
		return report.NotForTerminals(f)
	}
	return nil
}

// RecordFormats are the formats of profiles, and recordHelp says what each is.
var RecordFormats, recordHelp = report.FormatNames(true)

// suffixes says which suffix of a file's name is for what, in two lines of a help text.
func suffixes() string {
	var list []string
	for _, f := range picture.Formats {
		if len(f.Suffixes) > 0 {
			list = append(list, strings.Join(f.Suffixes, " and ")+" for "+f.For)
		}
	}
	text := strings.Join(list, ", ")
	end := strings.LastIndexByte(text[:50], ' ')
	return text[:end] + "\n" + text[end+1:]
}

// open makes the file, which is not there before write; nil for standard output, or if nothing is
// written.
func (r *profileFlags) open() (*files.Saving, error) {
	if r.output == "-" || r.output == "" {
		return nil, nil
	}
	return files.Create("--output", r.output, 0o600)
}

// write writes the stacks to the file that open has made.
func (r *profileFlags) write(cmd *cobra.Command, file *files.Saving, stacks *picture.Stacks) error {
	if r.output == "" {
		return nil
	}
	if file != nil {
		return file.Write(drawn{stacks, r.layout})
	}
	out := cmd.OutOrStdout()
	if picture.FormatNamed(r.layout).Binary {
		out = cmdline.Unescaped(cmd)
	}
	return stacks.Write(out, r.layout)
}

// lacks returns what the user should know of stacks that were written.
func (r *profileFlags) lacks(stacks *picture.Stacks, shown *shown) (list []string) {
	for _, text := range append(shown.leftOut(), stacks.LeftOut) {
		if text != "" {
			list = append(list, fmt.Sprintf("%s: %s; --max-size SIZE allows more", r.layout, text))
		}
	}
	return list
}

// profileText is how much text may be written of what has input bytes.
func (r *profileFlags) profileText(input int64) int64 {
	return cmp.Or(int64(r.most), cmdline.UsualText+input)
}

// drawn are stacks as they are written to a file.
type drawn struct {
	*picture.Stacks
	format string
}

// Write implements written.
func (d drawn) Write(w io.Writer) error { return d.Stacks.Write(w, d.format) }

// counted says how many samples a profile has, of the event with this name, and how many of them
// are not whole.
func counted(p *record.Profile, of string) string {
	var out strings.Builder
	s := &p.Stats
	fmt.Fprintf(&out, "%s%s of %s in %.1f s", count.Of(s.Samples, "sample"), of, count.Of(len(p.Threads), "thread"), p.Duration.Seconds())
	for _, x := range []struct {
		n         uint64
		one, many string
	}{
		{s.Lost, "was lost: the machine was too busy", "were lost: the machine was too busy"},
		{s.Unread, "record does not parse, and is left out", "records do not parse, and are left out"},
		{s.Cut, "has a stack that goes on where nothing was copied, and is cut", "have stacks that go on where nothing was copied, and are cut"},
		{s.Chained, "has outer frames by frame pointers alone", "have outer frames by frame pointers alone"},
		{s.Stopped, "has a stack that is not whole", "have stacks that are not whole"},
	} {
		if x.n > 0 {
			fmt.Fprintf(&out, "; %d %s", x.n, count.Verb(x.n, x.one, x.many))
		}
	}
	return out.String()
}
