package live

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

var _ target.Thread = (*Sleeper)(nil)

// A thread that sleeps is read without a stop: it has the registers and the memory that a stop
// finds. Once it has run, no more of its memory can be read.
func TestSleepers(t *testing.T) {
	p := start(t, "idle.c", "1")
	addr := address(t, p)
	tg := attach(t, p.PID)
	var s Sleepers
	asleep := func(th *Thread, fixed *arch.Registers) (x *Sleeper) {
		t.Helper()
		gdbtest.Await(t, "the thread sleeps", func() bool {
			x = s.Read(th, fixed, nil)
			return x != nil
		})
		return x
	}
	a := hostArch
	turns := func(th *Thread) uint64 { return th.target.files.(*files).proc.turns(th.ID()) }
	for i, th := range threadsOf(t, tg) {
		var fixed, r arch.Registers
		fixed.Set(a.FP, 0x1234)
		var words []uint64
		at := func(sp uint64) []uint64 { return []uint64{sp, sp + 64, addr, r.Value[a.PC] &^ 7} }
		gdbtest.Await(t, "the thread is stopped where it has slept", func() bool {
			x := asleep(th, &fixed)
			if err := x.Registers(&r); err != nil {
				t.Fatal(err)
			}
			words = nil
			for _, at := range at(r.Value[a.SP]) {
				words = append(words, word(t, x.StackMemory(), at))
			}
			if lo, data := x.Window(r.Value[a.SP]); r.Value[a.SP]-lo >= uint64(len(data)) {
				t.Errorf("thread %d: no copy holds its stack", i)
			}
			if !x.Slept() || turns(th) != x.Turns { // else it was not woken to be read
				return false
			}
			return th.Retake(func() {}) == nil && registersOf(t, th).Value[a.SP] == r.Value[a.SP]
		})
		stopped := registersOf(t, th)
		pc, rewound := r.Value[a.PC], stopped.Value[a.PC]+a.SyscallRewind
		if r.Known.Len() != 3 || r.Value[a.FP] != 0x1234 || pc != stopped.Value[a.PC] && pc != rewound {
			t.Errorf("thread %d: asleep %x, stopped %x", i, r, *stopped)
		}
		for j, at := range at(r.Value[a.SP]) {
			if want := word(t, th.Memory(), at); words[j] != want {
				t.Errorf("thread %d: at %#x there is %#x, when it is stopped %#x", i, at, words[j], want)
			}
		}
	}

	main, other := threadsOf(t, tg)[0], threadsOf(t, tg)[1]
	x := asleep(main, nil)
	if len(x.pages) == 0 || x.pages[0].lo != addr&^(pageSize-1) || binary.NativeEndian.Uint64(x.pages[0].data[addr%pageSize:]) != 0x1122334455667788 {
		t.Errorf("what was read of the thread the last time is not copied ahead: %d pages", len(x.pages))
	}
	var b [8]byte
	full := &Sleeper{Turns: x.Turns, files: x.files, memory: x.memory, id: x.id, pages: make([]page, mostSlept)}
	if n, err := full.ReadMemory(addr, b[:]); n > 0 || err == nil || full.Slept() {
		t.Errorf("more pages are kept than the bound: %d bytes, %v", n, err)
	}
	if _, err := p.Stdin.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the thread has run", func() bool { return turns(main) != x.Turns })
	if n, err := x.ReadMemory(registersOf(t, other).Value[a.SP], b[:]); err == nil || x.Slept() {
		t.Errorf("%d bytes are read when the thread has run on: %v, %v", n, err, x.Slept())
	}
	if v := word(t, x.StackMemory(), addr); v != 0x1122334455667788 {
		t.Errorf("%#x is no longer what it was", v)
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
	if x := s.Read(main, nil, nil); x != nil {
		t.Errorf("a thread that has ended: %+v", x.regs)
	}
}

// A thread that runs is not read without a stop.
func TestSleepersRun(t *testing.T) {
	p, stack, _ := counting(t)
	tg := attach(t, p.PID)
	th := counter(t, tg, stack)
	var s Sleepers
	for range 1000 {
		if x := s.Read(th, nil, nil); x != nil {
			t.Fatalf("%+v", x.regs)
		}
	}
}
