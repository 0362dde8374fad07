package frame_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// deep is a stack of n frames of 32 bytes. By its rows, registers are saved, lost, unchanged,
// in one another, or not tracked; a later sniffer tracks those.
func deep(n int, random *rand.Rand) (f *fake, first *rows, later fixed) {
	const functions, plain = 64, 16 // the last ones leave all registers alone, and call one another mostly
	first, later = &rows{name: "first", at: fixed{}}, fixed{}
	registers := []trad.Reg{amd64.RBX, amd64.R12, amd64.R13, amd64.R14, amd64.R15}
	pc := func(i int) uint64 { return 0x1100 + 16*uint64(i) }
	for i := range functions {
		row := spRow(32)
		rest := &trad.OtherRules{Default: trad.Same}
		for _, r := range registers {
			rule := trad.Rule{Kind: trad.Saved, Off: -16 - 8*random.Int32N(2)}
			switch random.IntN(8) + btoi(i >= functions-plain)*8 {
			case 0:
				rule = trad.Rule{Kind: trad.InReg, Reg: registers[random.IntN(len(registers))]}
			case 1:
				rule = trad.Rule{Kind: trad.Undefined}
			case 2:
				rule = trad.Rule{Kind: trad.Value, Off: random.Int32N(1 << 20)}
			case 3, 4:
			case 5:
				rule = trad.Rule{Kind: trad.Saved, Off: -19}
			default:
				continue // the same
			}
			rest.Regs = append(rest.Regs, trad.RegRule{Reg: r, Rule: rule})
		}
		if row.Others = rest; random.IntN(4) == 0 {
			later[pc(i)-1] = row
			row.Others = nil
		}
		first.at[pc(i)-1] = row
	}
	words := make([]uint64, 4*n)
	for i := range n {
		words[4*i], words[4*i+1], words[4*i+2] = random.Uint64(), random.Uint64(), random.Uint64()
		at := functions - plain + random.IntN(plain)
		if random.IntN(1500) == 0 {
			at = random.IntN(functions)
		}
		words[4*i+3] = pc(at)
	}
	words[4*n-1] = 0x1020
	first.at[0x101f] = outermost(spRow(8))
	first.at[0x1010] = spRow(32)
	f = newFake(0x1010, stackBase, 0, words...)
	for i, r := range registers {
		f.regs[r] = 0xabc0 + uint64(i)
	}
	return f, first, later
}

// A stack that drops its frames yields the same frames as others, with the registers that the inner
// frames' rows give, every time.
func TestAllOnce(t *testing.T) {
	const n = 15_000
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		f, first, later := deep(n, random)
		table := frame.NewTable(amd64.Arch, first, later)
		s, err := frame.New(f, f, table)
		if err != nil {
			t.Fatal(err)
		}
		for again := range 2 {
			regs := map[trad.Reg]simple{}
			for r, v := range f.regs {
				regs[r] = simple{bits: v, known: true}
			}
			level := 0
			for x, err := range s.AllOnce() {
				if err != nil {
					t.Fatal(err)
				}
				if level > 0 {
					regs = simply(f, x.Next(), []fixed{later}, regs)
				}
				// Most frames are not asked, so that dropped frames have remembered no registers.
				if some := level%97 == 0 || level > n-3; some || again > 0 && random.IntN(50) == 0 {
					var all arch.Registers
					x.Registers(&all)
					for _, info := range amd64.Arch.Regs {
						got, ok := all.Get(info.Num)
						v := x.Register(info.Num)
						for _, why := range []string{regs[info.Num].differs(v.Bits, v.Known()), regs[info.Num].differs(got, ok)} {
							if why != "" {
								t.Fatalf("seed %d, %v: %s %s", seed, x, info.Name, why)
							}
						}
					}
				}
				if x.Level != level {
					t.Fatalf("frame %d is at level %d", level, x.Level)
				}
				level++
			}
			if level != n+1 {
				t.Fatalf("%d frames, want %d", level, n+1)
			}
			if kept := frame.FramesAllocated(s); kept > 4096 {
				t.Errorf("%d frames have room", kept)
			}
		}
		// An inner frame can still be asked for.
		if x, err := s.Frame(3); err != nil || x.Level != 3 || cfaOf(x) != stackBase+4*32 {
			t.Errorf("frame 3 is %v (%v)", x, err)
		}
		if seed == 0 {
			if err := walktest.New(f.mods, table).Check(f, f); err != nil {
				t.Error(err)
			}
		}
	}
}

// The innermost frame that was not dropped has no NEXT.
func TestAllOnceNext(t *testing.T) {
	f, first, later := deep(10_000, rand.New(rand.NewPCG(7, 7)))
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, first, later))
	if err != nil {
		t.Fatal(err)
	}
	for x := range s.AllOnce() {
		n := 0
		for y := x; y != nil && y.Level >= 0; y = y.Next() {
			n++
		}
		if want := min(x.Level+1, 2048); n < want || n > 4096 {
			t.Fatalf("%v: %d frames are there, want %d to 4096", x, n, want)
		}
		if x.Level == 9000 {
			break
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cfaOf(f *frame.Frame) uint64 {
	cfa, _ := f.CFA()
	return cfa
}
