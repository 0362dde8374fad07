package frame_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// A hand-made target: code at 0x1000-0x2000, a stack of words from stackBase.
// What the frames of such stacks must be follows from the System V ABI: a
// frame pointer chain, or the rows that a test's sniffer gives.
const (
	codeLo, codeHi = 0x1000, 0x2000
	stackBase      = 0x7000
)

type fake struct {
	regs  map[trad.Reg]uint64
	words []uint64
	mods  *target.Modules
}

func newFake(pc, sp, fp uint64, words ...uint64) *fake {
	return &fake{
		regs:  map[trad.Reg]uint64{amd64.RIP: pc, amd64.RSP: sp, amd64.RBP: fp, amd64.RBX: 0xb, amd64.RAX: 0xa},
		words: words,
		mods:  target.NewModules(nil, []target.Mapping{{Lo: codeLo, Hi: codeHi, Exec: true}}),
	}
}

func (f *fake) Arch() *arch.Arch                  { return amd64.Arch }
func (f *fake) Memory() target.Memory             { return f }
func (f *fake) Threads() ([]target.Thread, error) { return []target.Thread{f}, nil }
func (f *fake) Modules() *target.Modules          { return f.mods }
func (f *fake) Close() error                      { return nil }
func (f *fake) ID() int                           { return 1 }
func (f *fake) Name() string                      { return "fake" }

func (f *fake) Registers(r *arch.Registers) error {
	for n, v := range f.regs {
		r.Set(n, v)
	}
	return nil
}

func (f *fake) ReadMemory(addr uint64, p []byte) (int, error) {
	for n := range p {
		at := addr + uint64(n) - stackBase
		if at/8 >= uint64(len(f.words)) {
			return n, target.ErrUnmapped
		}
		p[n] = byte(f.words[at/8] >> (at % 8 * 8))
	}
	return len(p), nil
}

// rows is a sniffer with rows by address in block.
type rows struct {
	name  string
	at    map[uint64]trad.Row
	asked int
}

func (s *rows) Name() string { return s.name }

func (s *rows) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	s.asked++
	if row, ok := s.at[q.AddressInBlock]; ok {
		row.Lo, row.Len = q.AddressInBlock, 1
		return row, frame.Claimed
	}
	return trad.Row{}, "no row for the address"
}

// fp is the row of a function that has set up its frame pointer.
var fp = trad.Row{
	CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RBP, Off: 16},
	RA:  trad.Rule{Kind: trad.Saved, Off: -8},
	FP:  trad.Rule{Kind: trad.Saved, Off: -16},
}

// everywhere claims every frame with one row.
type everywhere struct{ row trad.Row }

func (everywhere) Name() string { return "everywhere" }
func (s everywhere) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	row := s.row
	row.Lo, row.Len = q.AddressInBlock, 1
	return row, frame.Claimed
}

func unwind(t *testing.T, f *fake, sniffers ...frame.Sniffer) (pcs []uint64, last *frame.Frame, err error) {
	t.Helper()
	s, err := frame.New(f, f, frame.NewTable(amd64.Arch, sniffers...))
	if err != nil {
		t.Fatal(err)
	}
	for x, e := range s.All() {
		if err = e; e != nil {
			break
		}
		last = x
		if pcs = append(pcs, x.PC()); len(pcs) > 1000 {
			t.Fatal("the stack does not end")
		}
	}
	if err := walktest.New(f.mods, frame.NewTable(amd64.Arch, sniffers...)).Check(f, f); err != nil {
		t.Error(err)
	}
	return pcs, last, err
}
