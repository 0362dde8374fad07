package record_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/v8"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// busyNode are the stacks that testdata/busy.js can have, from the program itself inward. Classes
// are there where the object has not moved since.
var busyNode = regexp.MustCompile(`^<anonymous>( (Work\.)?outer( (Work\.)?middle( <anonymous>( Array\.push| push)?( fib)*)?)?| closes| brings( eval| (String\.)?repeat)?( <anonymous>)?( brief( fib)*)?| (get )?now.*)?$`)

// TestNode samples Node.js, without stopping it. Its frames of JavaScript are such as the program's
// source allows, also while functions come and go and objects move.
func TestNode(t *testing.T) {
	gdbtest.Later(t, "node")
	gdbtest.NeedAMD64(t)
	node := gdbtest.Tool(t, "node")
	for name, flags := range map[string][]string{"compiled": nil, "interpreted": {"--no-opt", "--no-sparkplug"}, "little memory": {"--max-semi-space-size=1"}} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join("testdata", "busy.js")
			process := gdbtest.StartRunning(t, node, append(flags, script)...)
			r, err := record.Start(record.Options{
				PIDs: []int{process.PID}, Frequency: 499,
				Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
				Decorators: func(int) []language.Decorator { return []language.Decorator{v8.Decorator{}} },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			gdbtest.Await(t, "there are samples", func() bool { return r.Stats().Samples > 700 })
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			names := symbol.New(symbol.Options{})
			defer names.Close()
			stacks := r.Profile().Picture(names)
			right, lacking := int64(0), int64(0)
			for _, s := range stacks.Samples {
				var list []string
				ends := false
				for _, f := range s.Frames {
					switch p := &stacks.Places[f]; {
					case p.Code == picture.LanguageCode:
						if !strings.HasPrefix(p.File, "node:") {
							list = append([]string{p.Function}, list...)
						}
					case strings.HasPrefix(p.Name, "[") && !strings.HasPrefix(p.Name, "[kernel]"):
						ends = true
					}
				}
				stack, n := strings.Join(list, " "), s.Values[0]
				switch {
				case ends || len(list) == 0, busyNode.MatchString("<anonymous> " + stack): // the stack is not whole
					lacking += n
				case busyNode.MatchString(stack):
					right += n
				default:
					t.Errorf("%d times: %s", n, stack)
				}
			}
			t.Logf("%d samples are right, %d are cut or have no function", right, lacking)
			if right < 3*lacking {
				t.Errorf("%d samples are right, and %d lack frames", right, lacking)
			}
		})
	}
}
