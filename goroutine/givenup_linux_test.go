package goroutine

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// A panic, or runtime.Goexit, has left functions of C that Go had called. Where its stack lies the
// runtime prints itself: the functions of Go, with PC and SP. Those of C that have not been left
// lie between them.
func TestGivenUp(t *testing.T) {
	exe := gdbtest.Build(t, "gopanic", "CGO_ENABLED=1")
	for _, how := range []string{"panic", "goexit"} {
		for _, blocks := range []string{"select", "raw", "c", "again"} {
			for _, depth := range []string{"0", "2", "1 thread"} {
				t.Run(how+" "+blocks+" "+depth, func(t *testing.T) {
					s := start(t, "system", append([]string{exe, how, blocks}, strings.Fields(depth)...)...)
					tg := s.attach(t)
					got := walkGivenUp(t, tg)
					thread := 0
					if got.Status == Running { // the runtime writes its stack only if the signal comes to its thread
						thread = got.Thread
					}
					got.check(t, s.quitBy(t, thread), downs(blocks, depth))
				})
			}
		}
	}
}

// So on other processors, from core files.
func TestGivenUpGuests(t *testing.T) {
	for _, cpu := range []struct {
		arch, cc string
		machine  elf.Machine
	}{
		{"arm64", "aarch64-linux-gnu-gcc", elf.EM_AARCH64},
		{"s390x", "s390x-linux-gnu-gcc", elf.EM_S390},
	} {
		exe := gdbtest.Build(t, "gopanic", "GOARCH="+cpu.arch, "CGO_ENABLED=1", "CC="+gdbtest.Tool(t, cpu.cc),
			"-ldflags=-linkmode=external -extldflags=-static")
		variant := 0
		for _, how := range []string{"panic", "goexit"} {
			for _, blocks := range []string{"select", "c", "again"} {
				for _, depth := range []string{"0", "2", "1 thread"} {
					variant++
					t.Run(cpu.arch+" "+how+" "+blocks+" "+depth, func(t *testing.T) {
						gdbtest.Share(t, variant)
						tg, said := guest(t, emulators[cpu.machine], exe, append([]string{how, blocks}, strings.Fields(depth)...)...)
						walkGivenUp(t, tg).check(t, said, downs(blocks, depth))
					})
				}
			}
		}
	}
}

// downs is how often the function down is on the stack, by the source of gopanic.
func downs(blocks, depth string) int {
	n := int(depth[0] - '0') // the calls around the one that is given up
	if strings.HasSuffix(depth, "thread") {
		n++
	}
	if blocks == "again" {
		n++
	}
	return n
}

// leaver is the goroutine that has left C.
type leaver struct {
	Goroutine
	frames []string // of Go
	downs  int      // frames of the function down
	stop   string
}

// walkGivenUp walks the stack of the goroutine that has left C.
func walkGivenUp(t *testing.T, tg target.Target) *leaver {
	t.Helper()
	r, err := Find(tg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.All()
	if err != nil {
		t.Errorf("goroutines: %v", err)
	}
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := sniffer.Table(tg.Arch())
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	for i := range all {
		var th target.Thread = parked{&all[i], tg.Arch()}
		if at := slices.IndexFunc(threads, func(th target.Thread) bool { return th.ID() == all[i].Thread }); at >= 0 && !all[i].Parked() {
			th = threads[at]
		}
		s, err := frame.New(tg, th, table)
		if err != nil {
			t.Fatal(err)
		}
		l := &leaver{Goroutine: all[i]}
		left := false
		for f, err := range s.All() {
			if err != nil {
				break
			}
			l.stop = f.StopReason().String()
			name, isGo := goFrame(symbols, tg, f)
			if isGo {
				l.frames = append(l.frames, name)
				left = left || strings.HasPrefix(name, "main.leaves ")
			} else if name == "down" {
				l.downs++
			}
		}
		if !left {
			continue
		}
		if err := walktest.New(tg.Modules(), table).Check(tg, th); err != nil {
			t.Error(err)
		}
		return l
	}
	t.Fatal("no goroutine is in main.leaves")
	return nil
}

// check compares the stack with the runtime's own traceback. downs is how often down is on it.
func (l *leaver) check(t *testing.T, said map[uint64]*traceback, downs int) {
	t.Helper()
	want := said[l.Number]
	if want == nil {
		t.Fatalf("the runtime knows no goroutine %d", l.Number)
	}
	var wanted []string
	for _, w := range want.frames {
		if w.pc != 0 && w.function != "runtime.systemstack_switch" {
			wanted = append(wanted, fmt.Sprintf("%s pc=%#x sp=%#x", w.function, w.pc, w.sp))
		}
	}
	if n := len(wanted); n > 1 && strings.HasPrefix(wanted[n-2], "runtime.cgocallback ") {
		wanted = wanted[:n-1] // goexit: it ends a stack that a thread of C has begun
	}
	// The runtime begins where the goroutine has left Go's code, or where the signal came.
	for len(wanted) > 0 && !strings.HasPrefix(wanted[0], "main.") {
		wanted = wanted[1:]
	}
	if got := l.frames[max(0, len(l.frames)-len(wanted)):]; len(wanted) < 8 || !slices.Equal(got, wanted) {
		t.Errorf("frames of Go:\n%s\nthe runtime has:\n%s\nstop: %s", strings.Join(got, "\n"), strings.Join(wanted, "\n"), l.stop)
	}
	if l.downs != downs {
		t.Errorf("down is on the stack %d times, want %d", l.downs, downs)
	}
}

// goFrame names a function of C, and describes a frame of Go as the runtime's own traceback does.
// isGo is false for frames that such a traceback leaves out where C is on the stack.
func goFrame(symbols *symbol.Symbolizer, tg target.Target, f *frame.Frame) (name string, isGo bool) {
	list := symbols.Locate(tg.Modules(), f.AddressInBlock())
	if len(list) == 0 {
		return "", false
	}
	name = plainName(list[len(list)-1].Function)
	switch {
	case !strings.Contains(name, ".") && !strings.HasPrefix(name, "_cgoexp_"), name == "runtime.asmcgocall", name == "runtime.systemstack_switch":
		return name, false
	case name == "runtime.gopanic":
		name = "panic"
	}
	return fmt.Sprintf("%s pc=%#x sp=%#x", name, f.PC(), f.Register(tg.Arch().SP).Bits), true
}
