package frame_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// simple is a register as the simplest walk finds it: it applies each frame's row in turn, from the
// innermost frame on, to all registers, and caches nothing.
type simple struct {
	bits  uint64
	known bool
}

// simply returns the registers of THIS frame's PREVIOUS. regs are the registers of THIS.
func simply(f *fake, this *frame.Frame, rows []fixed, regs map[trad.Reg]simple) map[trad.Reg]simple {
	prev := map[trad.Reg]simple{}
	row := this.Row()
	cfa, _ := this.CFA()
	switch this.Sniffer() {
	case "fixed": // the second itself
		rows = rows[1:]
	case "everywhere":
		rows = nil
	}
	var later trad.Row
	completes := false
	for i := 0; i < len(rows) && !completes; i++ {
		if later, completes = rows[i][this.AddressInBlock()]; !completes || later.Flags&trad.Guess != 0 || later.Others == nil {
			completes = false
			continue
		}
		base := regs[later.CFA.Reg]
		at := base.bits + uint64(int64(later.CFA.Off))
		if later.CFA.Kind == trad.SavedAt && base.known {
			at, base.known = f.wordAt(at)
		}
		completes = base.known && at == cfa && (later.CFA.Kind == trad.InReg || later.CFA.Kind == trad.SavedAt)
	}
	for _, info := range amd64.Arch.Regs {
		r := info.Num
		rule, by := cell(&row, r), simple{known: true}
		if rule.Kind == trad.NotTracked && completes {
			rule = cell(&later, r)
		}
		if r == amd64.RIP && rule.Kind == trad.Same {
			rule.Kind = trad.Undefined // no link register
		}
		from := regs[rule.Reg]
		at := from.bits + uint64(int64(rule.Off))
		switch rule.Kind {
		case trad.Same:
			by = regs[r]
		case trad.Value:
			by.bits = cfa + uint64(int64(rule.Off))
		case trad.Saved:
			by.bits, by.known = f.wordAt(cfa + uint64(int64(rule.Off)))
		case trad.InReg:
			by = simple{at, from.known}
		case trad.SavedAt:
			if by.known = from.known; by.known {
				by.bits, by.known = f.wordAt(at)
			}
		default:
			by.known = false
		}
		prev[r] = by
	}
	return prev
}

// cell returns a row's rule for a register, by DWARF 5, section 6.4.1, and the ABI.
func cell(row *trad.Row, r trad.Reg) trad.Rule {
	switch r {
	case amd64.RIP:
		return row.RA
	case amd64.RBP:
		return row.FP
	}
	if row.Others.Lists(r) {
		return row.Others.Rule(r)
	}
	if r == amd64.RSP {
		return trad.Rule{Kind: trad.Value}
	}
	if row.Others == nil || row.Others.Default == trad.NotTracked {
		return trad.Rule{}
	}
	if amd64.Arch.CalleeSaved.Has(r) {
		return trad.Rule{Kind: trad.Same}
	}
	return trad.Rule{Kind: trad.Undefined}
}

func (f *fake) wordAt(addr uint64) (v uint64, ok bool) {
	var p [8]byte
	n, _ := f.ReadMemory(addr, p[:])
	return amd64.Arch.Order.Uint64(p[:]), n == 8
}

// A frame's registers are what its inner frames' rows give one after the other. The
// order and number of queries do not matter.
func TestRegistersDrawn(t *testing.T) {
	bytes := rand.NewChaCha8([32]byte{'r', 'e', 'g'})
	data := make([]byte, 900)
	for range 1000 {
		bytes.Read(data)
		f, sniffers, later := draw(data, mostWords)
		table := frame.NewTable(amd64.Arch, sniffers...)
		for range 2 { // later rows from the cache must give the same as fresh ones
			checkRegisters(t, f, table, later, rand.New(bytes))
		}
		if t.Failed() {
			return
		}
	}
}

func checkRegisters(t *testing.T, f *fake, table *frame.Table, later []fixed, order *rand.Rand) {
	t.Helper()
	s, err := frame.New(f, f, table)
	if err != nil {
		t.Fatal(err)
	}
	s.Limit = 100
	var frames []*frame.Frame
	for x := range s.All() {
		if x != nil {
			frames = append(frames, x)
		}
	}
	want := make([]map[trad.Reg]simple, len(frames))
	for i, x := range frames {
		want[i] = map[trad.Reg]simple{}
		switch {
		case i == 0:
			for r, v := range f.regs {
				want[i][r] = simple{bits: v, known: true}
			}
		case x.Next().ID().Has&frame.HasSpecial != 0: // by somewhere
			for _, info := range amd64.Arch.Regs {
				v := want[i-1][info.Num]
				switch info.Num {
				case amd64.RIP:
					v = want[i-1][amd64.RBX]
				case amd64.RSP:
					v.bits += 16
				case amd64.RBP:
					v = simple{bits: v.bits + 16, known: true}
				case amd64.R12:
					v.bits++
				}
				want[i][info.Num] = v
			}
		default:
			want[i] = simply(f, x.Next(), later, want[i-1])
		}
	}
	for range 3 {
		for _, i := range order.Perm(len(frames)) {
			var all arch.Registers
			if order.IntN(2) == 0 {
				frames[i].Registers(&all)
				for _, info := range amd64.Arch.Regs {
					got, ok := all.Get(info.Num)
					if why := want[i][info.Num].differs(got, ok); why != "" {
						t.Errorf("%v by Registers: %s %s", frames[i], info.Name, why)
					}
				}
				continue
			}
			for _, k := range order.Perm(len(amd64.Arch.Regs)) {
				info := amd64.Arch.Regs[k]
				v := frames[i].Register(info.Num)
				if why := want[i][info.Num].differs(v.Bits, v.Known()); why != "" {
					t.Errorf("%v: %s %s", frames[i], info.Name, why)
				}
			}
		}
	}
}

func (s simple) differs(got uint64, known bool) string {
	if known != s.known || known && got != s.bits {
		return fmt.Sprintf("is %#x (known: %v), want %#x (%v)", got, known, s.bits, s.known)
	}
	return ""
}

// An inner frame has saved registers at odd addresses, and at address 0, where no memory is.
func TestRegistersAtOddAddresses(t *testing.T) {
	saves := trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 16},
		RA:     trad.Rule{Kind: trad.InReg, Reg: amd64.R12},
		FP:     trad.Rule{Kind: trad.Same},
		Others: &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -16}}}},
	}
	for _, sp := range []uint64{stackBase + 1, 0} {
		f := newFake(0x1010, sp, 0, 0x1122334455667788, 0x99aabbccddeeff00)
		f.regs[amd64.R12] = 0x1100
		_, f1, _ := unwind(t, f, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: saves, 0x10ff: outermost(spRow(8))}})
		want, known := f.wordAt(sp)
		var all arch.Registers
		f1.Registers(&all)
		if got := f1.Register(amd64.RBX); f1.PC() != 0x1100 || got.Known() != known || known && got.Bits != want || all.Known.Has(amd64.RBX) != known {
			t.Errorf("SP %#x: rbx of %v is %v, want %#x (%v)", sp, f1, got, want, known)
		}
	}
}

// Registers are saved where the stack begins, and 4 GiB further out.
func TestRegistersFarAway(t *testing.T) {
	saves := fp
	saves.FP = trad.Rule{Kind: trad.Same}
	saves.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -16}}}}
	last := outermost(spRow(8))
	for _, below := range []uint64{0, 8, 128, 256, 1<<32 - 128, 1 << 32, 1<<32 + 8, 1<<32 + 128, 1<<64 - 4096} {
		f := newFake(0x1010, stackBase-below, stackBase, 0x55, 0x1100, 0x66)
		_, f1, _ := unwind(t, f, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: saves, 0x10ff: last}})
		var all arch.Registers
		f1.Registers(&all)
		if v := f1.Register(amd64.RBX); v.Bits != 0x55 || all.Value[amd64.RBX] != 0x55 {
			t.Errorf("%#x below: rbx of %v is %v, %#x", below, f1, v, all.Value[amd64.RBX])
		}
	}
}

// Rules may lead from register to register through all frames of a deep stack. They are
// followed up to a limit, so that our own stack is not used up.
func TestRegistersDeep(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	swap := func(a, b trad.Reg, kind trad.Kind) *trad.OtherRules {
		return &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
			{Reg: a, Rule: trad.Rule{Kind: kind, Reg: b}}, {Reg: b, Rule: trad.Rule{Kind: trad.InReg, Reg: a}}}}
	}
	for _, tt := range []struct {
		more   *trad.OtherRules
		depth  int
		known  bool
		rbx    uint64
		reason string
	}{
		{swap(amd64.RBX, amd64.R12, trad.InReg), 4000, true, 0xb, ""},
		{swap(amd64.RBX, amd64.R12, trad.InReg), 4001, true, 0xc, ""},
		{swap(amd64.RBX, amd64.R12, trad.InReg), 100_000, false, 0, "too many frames"},
		{swap(amd64.RBX, amd64.R12, trad.SavedAt), 100_000, false, 0, ""},
		{swap(amd64.RDX, amd64.RBX, trad.InReg), 100_000, false, 0, "too many frames"},
	} {
		row := spRow(8)
		row.Others = tt.more
		f := newFake(0x1010, stackBase, 0, slices.Repeat([]uint64{0x1100}, tt.depth)...)
		f.regs[amd64.R12], f.regs[amd64.RDX] = 0xc, 0xd
		s, err := frame.New(f, f, frame.NewTable(amd64.Arch, everywhere{row}))
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Frame(tt.depth)
		if err != nil {
			t.Fatal(err)
		}
		v := x.Register(amd64.RBX)
		for range 20_000 { // a register that was too deep does not count for the next
			inner, err := s.Frame(1)
			if v := inner.Register(amd64.RBX); err != nil || tt.more.Regs[0].Rule.Kind == trad.InReg && !v.Known() {
				t.Fatalf("rbx of %v is %v (%v)", inner, v, v.Err)
			}
		}
		if v.Known() != tt.known || v.Bits != tt.rbx || tt.reason != "" && !strings.Contains(fmt.Sprint(v.Err), tt.reason) {
			t.Errorf("rbx of %v is %v (%v)", x, v, v.Err)
		}
	}
}

// FuzzRegisters does what TestRegistersDrawn does, with any rows and any stack.
func FuzzRegisters(f *testing.F) {
	f.Add([]byte("any bytes"), uint64(1))
	r := rand.NewChaCha8([32]byte{'r'})
	for seed := range uint64(4) {
		data := make([]byte, 800)
		r.Read(data)
		f.Add(data, seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		bounds.Hold(t, 16<<20, func() {
			target, sniffers, later := draw(data, mostWords)
			checkRegisters(t, target, frame.NewTable(amd64.Arch, sniffers...), later, rand.New(rand.NewPCG(seed, 0)))
		})
	})
}
