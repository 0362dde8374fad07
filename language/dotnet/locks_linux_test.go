package dotnet_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/dotnet"
)

// TestLocks holds for which System.Threading.Lock the threads of testdata/locks.cs wait, and who
// holds it, against what the program says.
func TestLocks(t *testing.T) {
	for _, d := range dotnets(t) {
		t.Run(d.name, func(t *testing.T) {
			if d.command == "" {
				gdbtest.Cannot(t, "the test's assembly needs mscorlib, which a program of one file lacks")
			}
			p := d.start(t, "locks.dll")
			said := map[string]int{}
			for system, name := range saidOfThreads(t, p) {
				said[name] = system
			}
			if len(said) == 0 {
				gdbtest.Cannot(t, "this release has no System.Threading.Lock")
			}
			all := languagetest.Attach(t, p.PID, dotnet.Decorator{}, nil)
			waits := func(name string) (list []language.Lock) {
				th := all[said[name]]
				if th == nil || th.Said == nil || len(th.Said.Threads) != 1 {
					t.Fatalf("thread %q: %+v", name, th)
				}
				return th.Said.Threads[0].Waits
			}
			if list := waits("holds"); len(list) != 0 {
				t.Errorf("who holds the lock waits for %+v", list)
			}
			address := uint64(0)
			for _, name := range []string{"waits", "waits a day"} {
				list := waits(name)
				if len(list) != 1 || list[0].Kind != "Lock" || list[0].Owner != said["holds"] || list[0].Address == 0 || address != 0 && list[0].Address != address || list[0].Timed != strings.Contains(name, "day") {
					t.Errorf("%q waits for %+v, held by %d", name, list, said["holds"])
					continue
				}
				address = list[0].Address
			}
		})
	}
}
