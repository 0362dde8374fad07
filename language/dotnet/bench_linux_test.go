package dotnet_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/dotnet"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// BenchmarkDecorate decorates the stacks of all threads of testdata/stops.cs: first as an attach
// does, which knows nothing of the process yet, then again and again.
func BenchmarkDecorate(b *testing.B) {
	d := dotnets(b)[0]
	name := filepath.Join(b.TempDir(), "slots")
	if err := os.WriteFile(name, make([]byte, slots*slotSize), 0o600); err != nil {
		b.Fatal(err)
	}
	p := d.start(b, "stops.dll", name, "3")
	p.Stop(b)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tg.Close()
	list := []language.Decorator{dotnet.Decorator{}}
	find := func() []language.Named {
		runtimes, err := language.Find(&language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules()}, list)
		if err != nil {
			b.Fatal(err)
		}
		return runtimes
	}
	threads, err := tg.Threads()
	if err != nil {
		b.Fatal(err)
	}
	var stacks []*language.Stack
	frames := 0
	for _, th := range threads {
		s := languagetest.Decorate(b, tg, th, find(), nil).Stack
		s.Memory = target.MemoryOf(tg, th)
		stacks, frames = append(stacks, s), frames+len(s.Frames)
	}
	decorate := func(runtimes []language.Named) {
		for _, s := range stacks {
			language.Decorate(s, runtimes)
		}
	}
	run := func(name string, one func()) {
		b.Run(name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				one()
			}
			b.ReportMetric((cpu(b)-before)*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(frames), "frames")
		})
	}
	run("first", func() { decorate(find()) })
	runtimes := find()
	run("again", func() { decorate(runtimes) })
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
