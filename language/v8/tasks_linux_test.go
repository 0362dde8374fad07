package v8_test

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/v8"
	"github.com/sfwalk/sfwalk/target/live"
)

func TestX(t *testing.T) {
	for _, node := range nodes(t) {
		t.Run(node, func(t *testing.T) {
			p := gdbtest.StartRunning(t, node, "/tmp/v8tasks/a.js")
			tg, err := live.Attach(context.Background(), p.PID, live.Options{Consistent: true})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			rt, err := language.Find(&language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules(), Threads: tg.Threads}, []language.Decorator{v8.Decorator{}})
			if err != nil {
				t.Fatal(err)
			}
			list, err := rt[0].Runtime.(language.Tasker).Tasks(tg.Now())
			t.Log(err)
			for _, x := range list {
				t.Logf("%#x %s %s thread %d by %x", x.ID, x.Kind, x.State, x.Thread, x.AwaitedBy)
				for _, f := range x.Frames {
					t.Logf("     %s %s:%d %v %s", f.Function, f.File, f.Line, f.Guess, f.Kind)
				}
			}
		})
	}
}
