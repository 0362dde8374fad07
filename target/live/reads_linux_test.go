package live

import (
	"os"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// What was read of a thread that sleeps is the same later if its registers are, and the bytes that
// were read. Other bytes may change.
func TestReads(t *testing.T) {
	p := start(t, "idle.c", "1")
	addr := address(t, p)
	const other = 16 // the word is in its page before others that nobody asks for
	tg := attach(t, p.PID)
	th := threadsOf(t, tg)[0]
	mem, err := os.OpenFile("/proc/"+strconv.Itoa(p.PID)+"/mem", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	write := func(at, v uint64) {
		t.Helper()
		var b [8]byte
		hostArch.Order.PutUint64(b[:], v)
		if _, err := mem.WriteAt(b[:], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	var s Sleepers
	asleep := func(before *Reads) (x *Sleeper) {
		t.Helper()
		gdbtest.Await(t, "the thread sleeps", func() bool {
			x = s.Read(th, nil, before)
			return x != nil
		})
		return x
	}
	x := asleep(nil)
	sp := x.regs.Value[hostArch.SP]
	text := x.regs.Value[hostArch.PC] &^ 7
	if x.Reads() != nil {
		t.Error("there are reads, which nobody has noted")
	}
	x.Note()
	if lo, data := x.Window(sp); data != nil {
		t.Errorf("copies from %#x on are lent, and nobody notes what is read of them", lo)
	}
	for _, at := range []uint64{sp + 256, addr, sp, addr, sp + 4, text} {
		word(t, x.StackMemory(), at)
	}
	reads := x.Reads()
	if reads == nil || len(reads.ranges) != 4 || len(reads.data) != 8+8+12+8 {
		t.Fatalf("noted: %+v", reads)
	}
	if word(t, x.StackMemory(), addr) != 0x1122334455667788 {
		t.Fatal("the program has another word")
	}
	was := map[uint64]uint64{}
	for _, at := range []uint64{addr, addr + other, sp, sp + 16, sp + 256, sp + 300} {
		was[at] = word(t, x.StackMemory(), at)
	}
	x.Slept()
	for _, test := range []struct {
		at   uint64
		same bool
	}{{addr, false}, {addr + other, true}, {sp, false}, {sp + 16, true}, {sp + 256, false}, {sp + 300, true}} {
		if x := asleep(reads); !x.Same(reads) || len(x.stack.data) > pageSize {
			t.Errorf("before %#x is written: it is not the same", test.at)
		}
		write(test.at, was[test.at]^1<<16)
		if x := asleep(reads); x.Same(reads) != test.same {
			t.Errorf("%#x is written: it is the same: %v", test.at, !test.same)
		}
		write(test.at, was[test.at])
	}
	x = asleep(nil)
	x.regs.Set(hostArch.PC, text)
	if x.Same(reads) {
		t.Error("with another PC it is the same")
	}

	x = asleep(nil)
	x.Note()
	var b [8]byte
	if _, err := x.ReadMemory(8, b[:]); err == nil || x.Reads() != nil {
		t.Errorf("what cannot be read: %v, noted: %+v", err, x.Reads())
	}
	x.Note()
	if word(t, x.StackMemory(), sp); x.Reads() == nil {
		t.Error("after that, nothing is noted")
	}
	x.noted = append(x.noted, span{sp, sp + mostReads + 1})
	if x.Reads() != nil {
		t.Error("more is kept than the bound")
	}
	x.Note()
	for range 2 * mostNoted {
		word(t, x.StackMemory(), sp)
	}
	if x.Reads() != nil || len(x.noted) > mostNoted+1 {
		t.Errorf("%d reads are noted", len(x.noted))
	}

	x = asleep(nil)
	turns := x.Turns
	if _, err := p.Stdin.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the thread has run", func() bool { return th.target.files.(*files).proc.turns(th.ID()) != turns })
	x.pages = nil // what is not copied must be read now
	if x.Same(reads) || x.Slept() {
		t.Error("a thread that has run on is the same")
	}
}
