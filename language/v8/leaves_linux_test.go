package v8_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/v8"
)

// TestLeaves stops a program in functions whose optimized code is not valid any more: they return
// to an exit in place of their caller. The frames are the ones that Error.stack has, with what is
// inlined. In V8 12.4, what a compiler has noted of its code is an array of a type of its own.
func TestLeaves(t *testing.T) {
	script, err := filepath.Abs("testdata/leaves.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(nodes(t), npmNode(t, "22.23.5")) {
		t.Run(strings.TrimPrefix(node, "/"), func(t *testing.T) {
			p := gdbtest.StartRunning(t, node, script)
			var text strings.Builder
			for {
				line, err := p.Stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if text.WriteString(line); line == "\n" {
					break
				}
			}
			want := framesOf(t, text.String())
			p.Stop(t)
			defer p.Continue(t)
			d := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID]
			got, _ := shown(d)
			// It may still print, and the line in which it stays is another one.
			i := slices.IndexFunc(got, func(f frame) bool { return f.function == "stays" })
			if i < 0 || len(want) == 0 || !slices.Equal(got[i+1:], want[1:]) {
				t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
			}
			exits := 0
			for _, f := range d.Stack.Frames {
				if f.Sniffer() == "v8" {
					exits++
				}
			}
			if exits == 0 {
				t.Error("no code is left by an exit")
			}
		})
	}
}
