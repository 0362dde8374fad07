//go:build linux

package walk

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/peer"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// captured starts the program that waits at that depth, and captures it.
func captured(t testing.TB, depth int) (pid int, file string) {
	t.Helper()
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(nil, wait, "1", fmt.Sprint(depth))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	file = filepath.Join(d.Path, "capture")
	if err := Take(context.Background(), p.PID, file); err != nil {
		t.Fatal(err)
	}
	return p.PID, file
}

// TestCapture: a walk from the file finds the frames that gdb finds in the process.
func TestCapture(t *testing.T) {
	gdbtest.NeedAMD64(t)
	pid, file := captured(t, 30)
	var want []uint64
	for _, f := range gdbtest.Backtrace(t, pid)[0].Frames {
		if f.Physical() {
			want = append(want, f.PC)
		}
	}
	if len(want) < 30 {
		t.Fatalf("gdb sees %d frames", len(want))
	}
	c, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, r := range rows {
		table, err := newTable(c.arch, r.sniffers)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWalker(c, table)
		if err != nil {
			t.Fatalf("%s rows: %v", r.name, err)
		}
		for name, walk := range map[string]func() int{"warm": w.warm, "cold": w.cold} {
			if got := w.pcs[:walk()]; !slices.Equal(got, want) {
				t.Errorf("%s, %s rows: frames %x, gdb sees %x", name, r.name, got, want)
			}
		}
		stack, err := frame.New(c, c, table)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for f, err := range stack.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.PC())
		}
		if !slices.Equal(got, want) {
			t.Errorf("Stack, %s rows: frames %x, gdb sees %x", r.name, got, want)
		}
		if s := (&stacker{c: c, table: table, registers: true}); s.walk() != len(want) || s.all.Known.Len() < 8 {
			t.Errorf("Stack, %s rows: the registers are not read", r.name)
		}
	}
	framehopAgrees(t, file, want)
}

// framehopAgrees: framehop, if it is on this machine, finds the same frames in the file.
func framehopAgrees(t *testing.T, file string, want []uint64) {
	d, err := build.NewDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath(filepath.Join(d.Root, ".cache", "framehop-target", "release", "framehop-peer"))
	if err != nil {
		t.Logf("not compared with framehop, which the bench builds: %v", err)
		return
	}
	p, err := peer.Start(program, file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	line, err := p.Ask('p')
	if err != nil {
		t.Fatal(err)
	}
	var pcs []string
	for _, pc := range want {
		pcs = append(pcs, fmt.Sprintf("%x", pc))
	}
	if line != strings.Join(pcs, " ") {
		t.Errorf("framehop sees %s, gdb %x", line, want)
	}
}

// TestMeasure: every contender on this machine is timed once.
func TestMeasure(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	list, err := func() ([]*contender, error) {
		_, file := captured(t, 5)
		c, err := Open(file)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { c.Close() })
		return ours(c)
	}()
	if err != nil {
		t.Fatal(err)
	}
	if err := race(context.Background(), list, 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if c.value().Number <= 0 {
			t.Errorf("%s, %s, %s rows: %v", c.name, c.how, c.rows, c.value())
		}
	}
	for _, g := range goals(5, list, map[string]string{framehop: "why", libunwind: "why"}) {
		if g.Missing != "why" || g.Met() {
			t.Errorf("%s: there is no peer to compare with: %+v", g.What, g)
		}
	}
}

var benchDepths = []int{30, 1000}

// benchmark runs walks of each depth with each list of rows.
func benchmark(b *testing.B, walks func(c *Capture, table *frame.Table) map[string]func() int) {
	for _, depth := range benchDepths {
		_, file := captured(b, depth)
		c, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		for _, r := range rows {
			table, err := newTable(c.arch, r.sniffers)
			if err != nil {
				b.Fatal(err)
			}
			for how, walk := range walks(c, table) {
				b.Run(fmt.Sprintf("depth=%d/rows=%s/%s", depth, r.name, how), func(b *testing.B) {
					frames := walk()
					b.ReportAllocs()
					for b.Loop() {
						walk()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*frames), "ns/frame")
				})
			}
		}
	}
}

func BenchmarkWalker(b *testing.B) {
	benchmark(b, func(c *Capture, table *frame.Table) map[string]func() int {
		w, err := newWalker(c, table)
		if err != nil {
			b.Fatal(err)
		}
		return map[string]func() int{"warm": w.warm, "cold": w.cold}
	})
}

func BenchmarkStack(b *testing.B) {
	benchmark(b, func(c *Capture, table *frame.Table) map[string]func() int {
		return map[string]func() int{
			"warm":      (&stacker{c: c, table: table}).walk,
			"cold":      (&stacker{c: c, table: table.Clone(), cold: true}).walk,
			"registers": (&stacker{c: c, table: table, registers: true}).walk,
		}
	})
}

// TestOpenBroken: a file that is no capture is refused.
func TestOpenBroken(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	_, file := captured(t, 1)
	if _, err := Open(file); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Dir(file) + "/wait"); err == nil {
		t.Error("a program is read as a capture")
	}
}
