package frame_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// coded is a fake target whose code can be read: the same bytes everywhere.
type coded struct {
	*fake
	code []byte
}

func (c *coded) Memory() target.Memory { return c }

func (c *coded) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr >= codeLo && addr < codeHi {
		for i := range p {
			p[i] = c.code[(addr+uint64(i))%uint64(len(c.code))]
		}
		return len(p), nil
	}
	return c.fake.ReadMemory(addr, p)
}

// Frame 1 has its caller's SP in the frame pointer. The caller's stack lies inward of its own.
func TestStackIsChanged(t *testing.T) {
	last := spRow(16)
	last.Flags = trad.Outermost
	guess, once := fp, fp
	guess.Flags, once.Flags = trad.Guess, trad.Once
	words := []uint64{
		0, 0, 0x7080, 0x1201, 0, 0, 0, 0, // 0x7000: frame 1's record at 0x7010, on the stack that it has switched from
		0, 0, 0, 0, 0, 0x1101, 0, 0, // 0x7060: frame 0, whose return address is at 0x7068
	}
	calls, jumps := []byte{0xff, 0xd0}, []byte{0xff, 0xe0} // call *%rax, jmp *%rax; a return address is odd here
	for _, tt := range []struct {
		name string
		row  trad.Row // of frame 1
		fp   uint64
		code []byte
		want frame.StopReason
	}{
		{"as it is", fp, 0x7010, nil, frame.Outermost},
		{"calls", fp, 0x7010, calls, frame.Outermost},
		{"no call", fp, 0x7010, jumps, frame.InnerID},
		{"guess", guess, 0x7010, nil, frame.InnerID},
		{"true once", once, 0x7010, nil, frame.InnerID},
		{"where frame 0 is", fp, 0x7058, nil, frame.InnerID},
		{"nowhere", fp, 0x6000, nil, frame.InnerID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f target.Target = newFake(0x1010, 0x7050, tt.fp, words...)
			th := f.(*fake)
			if tt.code != nil {
				// A call of two bytes ends before a return address.
				f = &coded{th, bytes.Repeat([]byte{tt.code[1], tt.code[0]}, 4)}
			}
			list := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: spRow(32), 0x1100: tt.row, 0x1200: last}}
			s, err := frame.New(f, th, frame.NewTable(amd64.Arch, list))
			if err != nil {
				t.Fatal(err)
			}
			var pcs []uint64
			var lastFrame *frame.Frame
			for x, err := range s.All() {
				if err == nil {
					pcs, lastFrame = append(pcs, x.PC()), x
				}
			}
			want := []uint64{0x1010, 0x1101, 0x1201}
			if tt.want != frame.Outermost {
				want = want[:2]
			}
			if !slices.Equal(pcs, want) || lastFrame.StopReason() != tt.want {
				t.Errorf("the stack is %#x, ended by %v; want %#x, %v", pcs, lastFrame.StopReason(), want, tt.want)
			}
			if f1, _ := s.Frame(1); (f1.Type() == frame.OtherStack) != (tt.want == frame.Outermost) {
				t.Errorf("frame 1 is of type %v", f1.Type())
			}
			if err := walktest.New(f.Modules(), frame.NewTable(amd64.Arch, list)).Check(f, th); err != nil {
				t.Error(err)
			}
		})
	}
}

// After a change of stacks, the walk ends where it would come to frames that it has already.
func TestChangedStackLeadsBack(t *testing.T) {
	f := newFake(0x1010, 0x7050, 0x7010,
		0, 0, 0x7010, 0x1201, 0, 0x1301, 0, 0, // 0x7000: frame 1's record; frame 2, to 0x7030, and frame 3
		0, 0, 0, 0, 0, 0x1101, 0, 0,
	)
	list := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: spRow(32), 0x1100: fp, 0x1200: spRow(16), 0x1300: spRow(64)}}
	var stop *frame.StopError
	pcs, _, err := unwind(t, f, list)
	if want := []uint64{0x1010, 0x1101, 0x1201, 0x1301}; !slices.Equal(pcs, want) || !errors.As(err, &stop) || stop.Reason != frame.InnerID {
		t.Errorf("the stack is %#x, %v; want %#x", pcs, err, want)
	}
}

// Rows lead anywhere, also inward. Each walk ends soon, and both walkers end at the same frame.
func TestChangedStacksEnd(t *testing.T) {
	var state uint64 = 1
	random := func(n uint64) uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return (state >> 33) % n
	}
	longest, changes := 0, 0
	for range 1000 {
		n := 16 + random(500)
		words := make([]uint64, n)
		for i := range words {
			if words[i] = stackBase + random(n)*8; random(2) == 0 {
				words[i] = codeLo + 1 + random(8)
			}
		}
		f := newFake(codeLo, stackBase+random(n)*8, stackBase+random(n)*8, words...)
		list := &rows{name: "rows", at: map[uint64]trad.Row{}}
		for i := range uint64(9) {
			row := fp
			if random(3) == 0 {
				row = spRow(int32(8 + 8*random(4)))
				row.FP = trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: int32(8 * random(4))}
			}
			if random(3) == 0 {
				row.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: amd64.RSP, Rule: trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP}}}}
			}
			list.at[codeLo+i] = row
		}
		pcs, last, _ := unwind(t, f, list)
		longest = max(longest, len(pcs))
		for x := last; x.Level >= 0; x = x.Next() {
			if x.Type() == frame.OtherStack {
				changes++
			}
		}
		if uint64(len(pcs)) > n+16 {
			t.Fatalf("%d frames on a stack of %d words", len(pcs), n)
		}
	}
	if t.Logf("up to %d frames, %d changes of stacks", longest, changes); changes < 100 {
		t.Error("the stacks are hardly changed: nothing is tested")
	}
}

// Frame after frame changes stacks, further inward each time.
func TestManyChanges(t *testing.T) {
	const n = 1 << 16
	words := make([]uint64, 3*n)
	for i := 3; i < len(words); i += 3 { // a record each: the next one is further inward
		words[i], words[i+1] = stackBase+uint64(i-3)*8, 0x1101
	}
	f := newFake(0x1101, stackBase+(3*n-1)*8, stackBase+(3*n-3)*8, words...)
	table := frame.NewTable(amd64.Arch, everywhere{fp})
	s, err := frame.New(f, f, table)
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	for x := range s.All() {
		if x != nil {
			frames++
		}
	}
	var regs arch.Registers
	f.Registers(&regs)
	pcs := make([]uint64, 2*n)
	walked, stop := frame.NewWalker(f.mods, table).Walk(&regs, f, pcs)
	if t.Logf("%d frames, %d walked, %v", frames, walked, stop); frames < 100 || frames > n || walked != frames || stop == frame.Limit {
		t.Errorf("%d frames, %d walked, %v", frames, walked, stop)
	}
}
