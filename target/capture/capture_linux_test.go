//go:build amd64 || arm64 || s390x

package capture_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/capture"
)

func open(t testing.TB) *capture.Program {
	t.Helper()
	p, err := capture.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// both are a stack as Go's run time and the engine have it: function and line of each frame.
type both struct{ theirs, ours []string }

// stacks captures the caller.
//
//go:noinline
func stacks(t testing.TB, p *capture.Program, c *capture.Context, table *frame.Table) (b both) {
	var pcs [512]uintptr
	c.Capture()
	n := runtime.Callers(1, pcs[:]) // the line before
	frames := runtime.CallersFrames(pcs[:n])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		b.theirs = append(b.theirs, fmt.Sprintf("%s:%d", f.Function, f.Line))
	}
	grow(20) // the stack moves
	runtime.GC()
	tg, err := p.Target(c, table)
	if err != nil {
		t.Fatal(err)
	}
	threads, _ := tg.Threads()
	s, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	for f, err := range logical.New(tg, symbols).All(s) {
		if err != nil {
			t.Fatal(err)
		}
		b.ours = append(b.ours, fmt.Sprintf("%s:%d", f.Function, f.Line))
	}
	return b
}

func grow(n int) byte {
	var big [16 << 10]byte
	if n > 0 {
		big[n] = grow(n - 1)
	}
	return big[n]
}

type walks interface{ walk(depth int) both }

type walker struct {
	t     testing.TB
	p     *capture.Program
	c     capture.Context
	table *frame.Table
}

//go:noinline
func (w *walker) walk(depth int) (b both) {
	if depth == 0 {
		func() { b = stacks(w.t, w.p, &w.c, w.table) }()
		return b
	}
	defer func() { depth++ }()
	return walks(w).walk(depth - 1)
}

// A goroutine's own stack is as Go's run time has it: in the main goroutine of a test, in others,
// behind deferred calls, closures, callbacks of the library, small stacks and deep ones.
func TestGoroutine(t *testing.T) {
	p := open(t)
	w := &walker{t: t, p: p, table: sniffer.Table(arch.ByName(runtime.GOARCH))}
	check := func(where string, b both) {
		t.Helper()
		for _, list := range []*[]string{&b.ours, &b.theirs} {
			// Callers is called in another line, and leaves out what the compiler makes for go
			// statements.
			(*list)[0], _, _ = strings.Cut((*list)[0], ":")
			for i, f := range *list {
				if at, line := strings.Index(f, "[go.shape"), strings.LastIndexByte(f, byte(93)); at > 0 {
					(*list)[i] = f[:at] + "[...]" + f[line+1:]
				}
			}
			*list = slices.DeleteFunc(*list, func(f string) bool { return strings.Contains(f, ".gowrap") })
		}
		if !slices.Equal(b.ours, b.theirs) {
			t.Errorf("%s: got\n%s\nGo has\n%s", where, strings.Join(b.ours, "\n"), strings.Join(b.theirs, "\n"))
		}
	}
	for _, depth := range []int{0, 3, 100} {
		check("here", w.walk(depth))
		done := make(chan both)
		go func() { done <- w.walk(depth) }()
		check("a goroutine", <-done)
	}
	slices.SortFunc([]int{2, 1}, func(a, b int) int {
		check("in a callback", w.walk(1))
		return a - b
	})
	func() {
		defer func() {
			recover()
			check("in a panic", w.walk(1))
		}()
		var none *walker
		_ = none.p
	}()
}

func TestNotCaptured(t *testing.T) {
	p := open(t)
	var c capture.Context
	if _, err := p.Target(&c, sniffer.Table(arch.ByName(runtime.GOARCH))); err == nil {
		t.Error("a context that was not captured has a stack")
	}
	c.Capture()
	tg, err := p.Target(&c, sniffer.Table(arch.ByName(runtime.GOARCH)))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := tg.Memory().ReadMemory(8, make([]byte, 8)); n != 0 || err == nil {
		t.Errorf("%d bytes at 8, %v", n, err)
	}
	if n, err := tg.Memory().ReadMemory(^uint64(7), make([]byte, 8)); n != 0 || err == nil {
		t.Errorf("%d bytes at the end, %v", n, err)
	}
}

func BenchmarkCapture(b *testing.B) {
	p := open(b)
	var c capture.Context
	table := sniffer.Table(arch.ByName(runtime.GOARCH))
	b.Run("capture", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Capture()
		}
	})
	b.Run("walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Capture()
			tg, err := p.Target(&c, table)
			if err != nil {
				b.Fatal(err)
			}
			threads, _ := tg.Threads()
			s, err := frame.New(tg, threads[0], table)
			if err != nil {
				b.Fatal(err)
			}
			for range s.All() {
			}
		}
	})
	b.Run("runtime.Callers", func(b *testing.B) {
		b.ReportAllocs()
		var pcs [64]uintptr
		for b.Loop() {
			runtime.Callers(0, pcs[:])
		}
	})
}
