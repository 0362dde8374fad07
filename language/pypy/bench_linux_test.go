package pypy_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/pypy"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// BenchmarkDecorate attaches to a process of PyPy, looks for the run time, and decorates the stacks
// of all threads. The CPU time is what the language adds. "other" is of a process that has no PyPy.
func BenchmarkDecorate(b *testing.B) {
	source := filepath.Join(b.TempDir(), "deep.py")
	text := "import time\ndef deep(n):\n    if n:\n        return deep(n - 1)\n    print('ready', flush=True)\n    time.sleep(1e6)\ndeep(100)\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	p := gdbtest.StartRunning(b, gdbtest.Tool(b, "pypy3"), source)
	other := gdbtest.StartRunning(b, gdbtest.Tool(b, "gdb"), "-nx", "-q", "-ex", `echo ready\n`)
	for name, pid := range map[string]int{"pypy": p.PID, "other": other.PID} {
		b.Run(name, func(b *testing.B) {
			used, frames := 0.0, 0
			for b.Loop() {
				tg, err := live.Attach(context.Background(), pid, live.Options{})
				if err != nil {
					b.Fatal(err)
				}
				threads, err := tg.Threads()
				if err != nil {
					b.Fatal(err)
				}
				var stacks []*language.Stack
				for _, th := range threads {
					s := languagetest.Decorate(b, tg, th, nil, nil).Stack
					s.Memory = target.MemoryOf(tg, th)
					stacks = append(stacks, s)
				}
				for _, m := range tg.Modules().All() {
					// All decorators open files of this size, and look for
					// their names together.
					if im, _, err := m.PeekImage(); m.Hi()-m.Lo() >= 2<<20 && err == nil {
						im.MayHaveSymbol("rpython_startup_code")
					}
				}
				before := cpu(b)
				runtimes := languagetest.Find(b, tg, pypy.Decorator{})
				for _, s := range stacks {
					if d := language.Decorate(s, runtimes); d != nil {
						for _, at := range d.At {
							frames += len(at.Frames)
						}
					}
				}
				used += cpu(b) - before
				tg.Close()
			}
			b.ReportMetric(used*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
		})
	}
}

// cpu returns the CPU time that this program has used, in seconds.
func cpu(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
