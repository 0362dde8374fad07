package frame_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// lent is a fake whose memory lends its words.
type lent struct{ *fake }

func (l lent) Memory() target.Memory { return lentMemory{l.fake, l.bytes()} }

func (f *fake) bytes() (p []byte) {
	for _, w := range f.words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

type lentMemory struct {
	*fake
	data []byte
}

func (m lentMemory) Window(addr uint64) (uint64, []byte) {
	if addr-stackBase < uint64(len(m.data)) {
		return stackBase, m.data
	}
	return 0, nil
}

// An unknown frame pointer does not count as 0.
func TestWalkerUnknownFP(t *testing.T) {
	f := newFake(0x1010, stackBase, 0, 0, 0x1100, 0, 0x1100)
	delete(f.regs, amd64.RBP)
	far := fp
	far.CFA.Off = stackBase + 16
	at := map[uint64]trad.Row{0x1010: far, 0x10ff: far}
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010}, frame.Unavailable)
	at[0x1010] = spRow(16)
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100}, frame.Unavailable)
}

// A plain memory is read to the end of a page. The two words of a frame record may be
// on different pages, and the second page may be missing.
func TestWalkerPageEnd(t *testing.T) {
	const sp, page = stackBase, 0x1000
	for _, at := range []uint64{sp + page - 24, sp + page - 16, sp + page - 8, sp + page, sp + page - 12, sp + page - 4} {
		f := newFake(0x1010, sp, at)
		f.words = make([]uint64, 3*page/8)
		put := func(addr, v uint64) {
			for i := range uint64(8) {
				k := addr + i - sp
				f.words[k/8] = f.words[k/8]&^(0xff<<(k%8*8)) | v>>(8*i)&0xff<<(k%8*8)
			}
		}
		put(at, at+page)
		put(at+8, 0x1100)
		put(at+page, at+page+16)
		put(at+page+8, 0x1200)
		want := []uint64{0x1010, 0x1100, 0x1200}
		check(t, f, []frame.Sniffer{everywhere{fp}}, want, frame.NoSavedPC)
		check(t, lent{f}, []frame.Sniffer{everywhere{fp}}, want, frame.NoSavedPC)
		f.words = f.words[:page/8]
		n := 1
		if at+16 <= sp+page {
			n = 2
		}
		check(t, f, []frame.Sniffer{everywhere{fp}}, want[:n], frame.MemoryError)
	}
}

// bigFake is a stack of s390x, whose words have the high byte first.
type bigFake struct{ *fake }

func (bigFake) Arch() *arch.Arch                    { return s390x.Arch }
func (f bigFake) Memory() target.Memory             { return f }
func (f bigFake) Threads() ([]target.Thread, error) { return []target.Thread{f.fake}, nil }
func (f bigFake) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n := range p {
		at := addr + uint64(n) - stackBase
		if at/8 >= uint64(len(f.words)) {
			return n, target.ErrUnmapped
		}
		p[n] = byte(f.words[at/8] >> (56 - at%8*8))
	}
	return len(p), nil
}

func TestWalkerBigEndian(t *testing.T) {
	const sp, size, save = stackBase, 176, 160 // a frame, and the area that callers leave above SP
	row := trad.Row{
		CFA:    trad.Rule{Kind: trad.InReg, Reg: s390x.R15, Off: size + save},
		RA:     trad.Rule{Kind: trad.Saved, Off: 8*14 - save},
		FP:     trad.Rule{Kind: trad.Saved, Off: 8*11 - save},
		Others: &trad.OtherRules{Default: trad.Same},
	}
	byFP := row
	byFP.CFA.Reg = s390x.R11
	f := newFake(0, 0, 0)
	f.regs = map[trad.Reg]uint64{s390x.PSWA: 0x1010, s390x.R15: sp, s390x.R11: 0x5a5a, s390x.R14: 0x1080}
	f.words = make([]uint64, 1000)
	for i, ra := range []uint64{0x1100, 0x1200, 0x1300} {
		f.words[((i+1)*size+8*14)/8] = ra
		f.words[((i+1)*size+8*11)/8] = sp + 2*size // frame 2's r11
	}
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: row, 0x10ff: row, 0x11ff: byFP, 0x12ff: outermost(row)}}
	check(t, bigFake{f}, []frame.Sniffer{s}, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.Outermost)
}

// Malicious stacks.
func TestWalkerHostile(t *testing.T) {
	const sp = stackBase
	const high = ^uint64(0) - 7
	inner, below := spRow(16), spRow(16)
	inner.CFA.Off, below.CFA.Off = -0x1000, -1<<31
	far := spRow(16)
	far.RA.Off = 1<<31 - 1
	zero := fp
	zero.RA = trad.Rule{Kind: trad.Saved, Off: 0}
	for _, tt := range []struct {
		name string
		f    *fake
		rows map[uint64]trad.Row
		want []uint64
		stop frame.StopReason
	}{
		{"CFA wraps around in frame 0", newFake(0x1010, sp, high, 0), map[uint64]trad.Row{0x1010: fp}, []uint64{0x1010}, frame.MemoryError},
		{"CFA wraps around further out", newFake(0x1010, sp, sp, high, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}, []uint64{0x1010, 0x1100}, frame.InnerID},
		{"CFA is 0", newFake(0x1010, sp, high-8, 0), map[uint64]trad.Row{0x1010: fp}, []uint64{0x1010}, frame.MemoryError},
		{"CFA further in", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: inner}, []uint64{0x1010, 0x1100}, frame.InnerID},
		{"CFA below address 0", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: below}, []uint64{0x1010, 0x1100}, frame.MemoryError},
		{"return address beyond memory", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: far}, []uint64{0x1010, 0x1100}, frame.MemoryError},
		{"SP at the end of all addresses", newFake(0x1010, ^uint64(0), 0), map[uint64]trad.Row{0x1010: spRow(8)}, []uint64{0x1010}, frame.MemoryError},
		{"return address 0 to a PC that is known", newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"two frames at one CFA in turns", newFake(0x1010, sp, sp, sp, 0x1100, sp, 0x1010), map[uint64]trad.Row{0x1010: fp, 0x10ff: zero, 0x100f: fp}, []uint64{0x1010}, frame.SameID},
		{"return address 0 where everything may be code", anyCode(newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0, sp+48, 0x1200)), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp, ^uint64(0): fp, 0x11ff: outermost(fp)}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"a call at the end of all code", newFake(0x1010, sp, sp, sp+16, codeHi, sp+32, 0x1200), map[uint64]trad.Row{0x1010: fp, codeHi - 1: fp, 0x11ff: outermost(fp)}, []uint64{0x1010, codeHi, 0x1200}, frame.Outermost},
		{"outermost where it cannot be", newFake(0x1010, sp, sp, sp-64, 0x1100), map[uint64]trad.Row{0x1010: fp, 0x10ff: outermost(fp)}, []uint64{0x1010, 0x1100}, frame.Outermost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := []frame.Sniffer{&rows{name: "rows", at: tt.rows}}
			check(t, tt.f, s, tt.want, tt.stop)
			check(t, lent{tt.f}, s, tt.want, tt.stop)
		})
	}
}

// anyCode removes a target's modules, so that everything may be code.
func anyCode(f *fake) *fake {
	f.mods = target.NewModules(nil, nil)
	return f
}
