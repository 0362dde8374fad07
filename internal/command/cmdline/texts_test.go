package cmdline

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// TestTexts holds flags that may be given several times against pflag's own.
func TestTexts(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"--text", "a,b", "--text=", "-t", "c"},
		{"--list", "a,b", "--list=c", "--list", `"d,e",f`},
		{"--list", ""},
		{"--list", `"a`},
		{"--list", `a"b`},
		{"--list", "a\nb"},
		{"--text"},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			var ours, want [2][]string
			own, pflags := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
			TextsP(own, &ours[0], "text", "t", "usage of `TEXT`")
			List(own, &ours[1], "list", "usage")
			pflags.StringArrayVarP(&want[0], "text", "t", nil, "usage of `TEXT`")
			pflags.StringSliceVar(&want[1], "list", nil, "usage")
			if got, want := own.FlagUsages(), pflags.FlagUsages(); got != want {
				t.Errorf("usage:\n%s\npflag's:\n%s", got, want)
			}
			own.SetOutput(io.Discard)
			pflags.SetOutput(io.Discard)
			got, wanted := own.Parse(args), pflags.Parse(args)
			if (got == nil) != (wanted == nil) {
				t.Fatalf("error %v, pflag has %v", got, wanted)
			}
			if got != nil && fmt.Sprint(got) != fmt.Sprint(wanted) {
				t.Errorf("error %q, pflag has %q", got, wanted)
			}
			for i := range ours {
				if got == nil && !slices.Equal(ours[i], want[i]) {
					t.Errorf("%q, pflag's %q", ours[i], want[i])
				}
			}
		})
	}
}
