package frame_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// drawn takes small numbers from bytes; it gives 0 once they are used up.
type drawn []byte

func (d *drawn) n(below int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % below
}

// rule makes a rule of some kind, in which registers and distances are such that frames
// are likely to go on.
func (d *drawn) rule(kinds ...trad.Kind) trad.Rule {
	regs := []trad.Reg{amd64.RSP, amd64.RBP, amd64.RBX, amd64.R12, amd64.RIP}
	return trad.Rule{Kind: kinds[d.n(len(kinds))], Reg: regs[d.n(len(regs))], Off: int32(8 * (d.n(12) - 4))}
}

func (d *drawn) row() trad.Row {
	row := trad.Row{
		CFA: d.rule(trad.InReg, trad.InReg, trad.InReg, trad.SavedAt, trad.ValExpr, trad.NotTracked),
		RA:  d.rule(trad.Saved, trad.Saved, trad.Saved, trad.SavedAt, trad.InReg, trad.Same, trad.Undefined, trad.NotTracked),
		FP:  d.rule(trad.Same, trad.Saved, trad.Saved, trad.SavedAt, trad.InReg, trad.Value, trad.Undefined, trad.NotTracked),
	}
	// Most rows of compilers are like this.
	if d.n(4) > 0 {
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: amd64.RSP - trad.Reg(d.n(8)/7), Off: int32(8 * (1 + d.n(4)))}
		row.RA = trad.Rule{Kind: trad.Saved, Off: -8}
	}
	row.Flags = []trad.Flags{0, 0, 0, 0, 0, 0, trad.Signal, trad.Outermost, trad.Once, trad.Guess, trad.Once | trad.Guess}[d.n(11)]
	if d.n(3) == 0 {
		row.Others = &trad.OtherRules{Default: []trad.Kind{trad.Same, trad.NotTracked}[d.n(2)]}
		for _, r := range []trad.Reg{amd64.RAX, amd64.RBX, amd64.RSP, amd64.R12} {
			if d.n(3) == 0 {
				row.Others.Regs = append(row.Others.Regs, trad.RegRule{Reg: r, Rule: d.rule(trad.Same, trad.Saved, trad.SavedAt, trad.InReg, trad.Undefined)})
			}
		}
	}
	return row
}

// unsure is a sniffer that asks for registers at some addresses.
type unsure struct{ fixed }

func (unsure) Name() string { return "unsure" }
func (s unsure) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.AddressInBlock%3 == 0 {
		for _, r := range []trad.Reg{amd64.RBX, amd64.R12, amd64.RSP, amd64.RBP} {
			if v := q.This.Register(r); v.Known() && v.Bits%64 == 8 {
				return trad.Row{}, "a register has an odd value"
			}
		}
	}
	return s.fixed.Sniff(q)
}

// FuzzWalker walks any stack by any rows both ways; the results must agree. An Unwinder's frame
// asks all inner frames, so that a large stack takes a tenth of a second.
func FuzzWalker(f *testing.F) {
	f.Add([]byte("any bytes"), uint8(30))
	r := rand.NewChaCha8([32]byte{'w'})
	for range 4 {
		data := make([]byte, 800)
		r.Read(data)
		f.Add(data, uint8(30))
	}
	f.Fuzz(func(t *testing.T, data []byte, words uint8) {
		bounds.Hold(t, 16<<20, func() { checkDrawn(t, data, min(1+int(words), mostWords)) })
	})
}

// TestWalkerDrawn does what FuzzWalker does, with stacks that are always the same.
func TestWalkerDrawn(t *testing.T) {
	// FuzzWalker has found this: an Unwinder that asks inner frames, in many frames.
	looksBack, err := os.ReadFile("testdata/unwinder-looks-back")
	if err != nil {
		t.Fatal(err)
	}
	checkDrawn(t, looksBack, mostWords)
	r := rand.NewChaCha8([32]byte{'w', 'a', 'l', 'k'})
	data := make([]byte, 800)
	for range 1000 {
		r.Read(data)
		if checkDrawn(t, data, mostWords); t.Failed() {
			return
		}
	}
}

// mostWords is the number of words of the largest stack that is drawn.
const mostWords = 96

// checkDrawn compares the walkers on rows and a stack of so many words, which are drawn from data.
func checkDrawn(t *testing.T, data []byte, words int) {
	t.Helper()
	f, sniffers, _ := draw(data, words)
	checker := walktest.New(f.mods, frame.NewTable(amd64.Arch, sniffers...))
	checker.Limit = 200
	for range 2 { // cached rows must give the same as fresh ones
		if err := checker.Check(f, f); err != nil {
			t.Fatal(err)
		}
	}
}

// draw makes rows and a stack of so many words from data. later are the rows of the second and the
// third sniffer, which may complete the rows of the sniffers before.
func draw(data []byte, words int) (f *fake, sniffers []frame.Sniffer, later []fixed) {
	const pcs = 12
	d := drawn(data)
	first, second, third := fixed{}, fixed{}, fixed{}
	for i := range uint64(pcs) {
		for _, block := range []uint64{codeLo + 16*i, codeLo + 16*i - 1} { // interrupted there, or calling
			if d.n(8) > 0 {
				first[block] = d.row()
			}
			if d.n(2) > 0 {
				row := d.row()
				if d.n(3) > 0 {
					row.CFA = first[block].CFA // it may complete the first's
				}
				second[block] = row
			}
		}
	}
	sniffers = []frame.Sniffer{unsure{first}, second}
	pc := codeLo + 16*uint64(d.n(pcs))
	if d.n(3) == 0 {
		row := spRow(16)
		row.Others = &trad.OtherRules{Default: trad.Same}
		block := codeLo + 16*uint64(d.n(pcs)) - uint64(d.n(2))
		if d.n(2) == 0 {
			block = pc
			delete(first, pc)
			delete(second, pc)
		}
		sniffers = append(sniffers, somewhere{whole{everywhere{row}}, block})
		third[block] = row
	}
	f = newFake(pc, stackBase, stackBase+8*uint64(d.n(words)))
	f.regs[amd64.RBX] = stackBase + 8*uint64(d.n(words))
	f.regs[amd64.R12] = stackBase + 8*uint64(d.n(words))
	for len(f.words) < words {
		switch d.n(8) {
		case 0:
			f.words = append(f.words, 0)
		case 1, 2, 3:
			f.words = append(f.words, stackBase+8*uint64(min(d.n(words)+len(f.words)/2, words)))
		case 4:
			f.words = append(f.words, binary.LittleEndian.Uint64([]byte{byte(d.n(256)), 0, byte(d.n(256)), 0, 0, 0, 0, byte(d.n(256))}))
		default:
			f.words = append(f.words, codeLo+16*uint64(d.n(pcs)))
		}
	}
	return f, sniffers, []fixed{second, third}
}
