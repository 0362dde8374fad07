package record_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// Each sample's stack is the same as a frame.Stack's, whatever compiler has made the program, and
// nearly all go to the outermost frame.
func TestEveryStack(t *testing.T) {
	gdbtest.CanRecord(t)
	gdbtest.NeedAMD64(t)
	for _, v := range []struct {
		name  string
		start func(t *testing.T) *gdbtest.Process
		whole float64 // how many of the stacks are, at least
	}{
		{"C++ with exceptions", func(t *testing.T) *gdbtest.Process {
			return gdbtest.StartRunning(t, gdbtest.Build(t, "throws.cc", "-O3", "-pthread"), "2")
		}, 0.8}, // its signal handlers are on stacks of their own: what lies beyond was not copied
		{"SFrame alone", func(t *testing.T) *gdbtest.Process {
			return gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread", "-Wa,--gsframe", "-DSFRAME_ALONE"), "2", "20")
		}, 0.95},
		{"Go", func(t *testing.T) *gdbtest.Process {
			return gdbtest.StartRunning(t, gdbtest.Build(t, "gobusylabels", "-ldflags=-s -w"), t.TempDir()+"/own.pb.gz")
		}, 0.95},
		{"Rust", func(t *testing.T) *gdbtest.Process {
			return gdbtest.StartRunning(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "busy.rs"), gdbtest.Tool(t, "rustc"), "--edition=2021", "-O"))
		}, 0.95},
		{"Node.js", func(t *testing.T) *gdbtest.Process {
			return gdbtest.StartRunning(t, gdbtest.Tool(t, "node"), "-e", `function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
const words = []; for (let i = 0; i < 300; i++) words.push(String(i * 2654435761 % 1e9));
console.log("ready");
(function round() { fib(18); [...words].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)); JSON.stringify(words).replace(/[0-9]+/g, x => x + 1); setImmediate(round); })();`)
		}, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			p := v.start(t)
			r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: arch.ByName("amd64"), Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			const samples = 200
			checked := 0
			take(t, r, samples, func(_ int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, _ []uint64, _ frame.StopReason) {
				if checked++; checked%4 != 0 {
					return
				}
				o := &one{a, modules, regs, mem}
				if err := walktest.New(modules, sniffer.Table(a)).Check(o, o); err != nil {
					t.Error(err)
				}
			})
			stats := r.Profile().Stats
			t.Logf("%+v", stats)
			if taken := stats.Samples - stats.Empty; float64(stats.Whole) < v.whole*float64(taken) || taken < samples/2 {
				t.Errorf("too few stacks are whole: %+v", stats)
			}
		})
	}
}
