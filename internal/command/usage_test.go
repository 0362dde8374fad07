package command

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/command/usage"
)

// The help of each command begins with its usage and has each flag once. Where there are many, the
// ones of every day are the first, and each group has a title.
func TestUsage(t *testing.T) {
	grouped := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		out, _, err := command(args...)
		if err != nil || !strings.HasPrefix(out, "Usage:\n  "+cmd.CommandPath()) || !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(cmd.Long), " ")) || !strings.Contains(out, cmd.Example) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			want := 1
			if f.Hidden || f.Deprecated != "" {
				want = 0
			}
			if n := len(regexp.MustCompile(`(?m)^ +(-\w, )?--`+f.Name+` `).FindAllString(out, -1)); n != want {
				t.Errorf("%v has --%s %d times", args, f.Name, n)
			}
		})
		list := usage.Groups(cmd)
		if len(list) == 1 {
			return
		}
		grouped++
		if n := len(list[0].Flags); list[0].Title != "Flags of every day" || n < 5 || n > 11 {
			t.Errorf("%v: %d flags are %q", args, n, list[0].Title)
		}
		at := slices.IndexFunc(list, func(g usage.Group) bool { return g.Title == "Other flags" })
		if at >= 0 && cmd.Name() == "attach" {
			t.Errorf("%v: flags without a group: %v", args, list[at].Flags)
		}
		first, examples := strings.Index(out, "\nFlags of every day:\n"), strings.Index(out, "\nExamples:\n")
		if other := strings.Index(out, "\n"+list[1].Title+":\n"); first < 0 || examples < first || other < examples || strings.Index(out, "\nDescription:\n") < other {
			t.Errorf("%v: the order is another one:\n%s", args, out)
		}
	}
	visit(Commands())
	if grouped < 8 {
		t.Errorf("only %d commands have groups", grouped)
	}
}
