package manpage_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/manpage"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var manual = manpage.Manual{Version: "sfwalk 0.1.0", Date: "2026-11-26"}

// render returns a command's page as groff prints it, with lines as long as its paragraphs.
func render(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var page, out, warnings bytes.Buffer
	if err := manual.Write(&page, cmd); err != nil {
		t.Fatal(err)
	}
	groff := exec.Command(gdbtest.Tool(t, "groff"), "-ww", "-man", "-Tascii", "-P-cbou", "-rLL=2000n")
	groff.Stdin, groff.Stdout, groff.Stderr = &page, &out, &warnings
	if err := groff.Run(); err != nil || warnings.Len() > 0 {
		t.Errorf("%s: groff: %v\n%s", cmd.CommandPath(), err, &warnings)
	}
	return out.String()
}

// Each command of sfwalk has a page, with each flag, example and sentence that its help has, and
// groff has nothing to complain of.
func TestPages(t *testing.T) {
	pages := map[string]bool{}
	for _, cmd := range manpage.All(command.Commands()) {
		name := manpage.Name(cmd)
		pages[name] = true
		page := words(render(t, cmd))
		for _, flag := range regexp.MustCompile(`(?m)^ +(-\w, )?(--[a-z0-9-]+)`).FindAllStringSubmatch(cmd.UsageString(), -1) {
			if !strings.Contains(page, " "+flag[2]+" ") {
				t.Errorf("%s lacks %s", name, flag[2])
			}
		}
		for _, text := range []string{cmd.Long, cmd.Example} {
			for line := range strings.SplitSeq(text, "\n") {
				if line = strings.TrimPrefix(line, "#### "); !strings.Contains(page, strings.ReplaceAll(words(line), "…", "...")) {
					t.Errorf("%s lacks %q", name, line)
				}
			}
		}
	}
	for _, name := range []string{"sfwalk", "sfwalk-attach", "sfwalk-dlv-exec", "sfwalk-sframe-verify", "sfwalk-completion-bash"} {
		if !pages[name] {
			t.Errorf("there is no page %s", name)
		}
	}
	if pages["sfwalk-help"] || len(pages) < 25 {
		t.Errorf("pages: %v", pages)
	}
}

// words returns a text with one space between two words.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// What means something to groff or a shell is printed as it is.
func TestCharacters(t *testing.T) {
	cmd := &cobra.Command{
		Use: "odd [-x] 'A'", Short: "Print \"odd\" characters", Run: func(*cobra.Command, []string) {},
		Long:    ".SH is no title here\n'nor this\n\n  a block\\nwith \\fB\n  -- `x` ^ ~ | $\n.\nThe end.",
		Example: "  odd 'a b' | grep -v \"\\.\"",
	}
	cmd.Flags().String("n-m", `a\b`, "the `'value'`")
	page := words(render(t, cmd))
	for _, want := range []string{
		`odd - print "odd" characters`, `DESCRIPTION .SH is no title here 'nor this a block\nwith \fB -- `, "-- `x` ^ ~ | $ . The end.",
		`--n-m 'value' the 'value' (default a\b)`, `EXAMPLES odd 'a b' | grep -v "\."`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %s", want, page)
		}
	}
}
