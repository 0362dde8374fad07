package fp_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer/fp"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// The stacks are made by hand, in the layout of the ABIs. In AAPCS64 (6.4.6) the frame record is
// the saved x29, then x30, anywhere in the frame. In the s390x ELF ABI the word at r15 is the
// caller's r15, above which the callee keeps r14 at 112.
const (
	codeLo, codeHi = 0x1000, 0x2000
	stackBase      = 0x7000
)

var loose = &arch.Arch{
	Name:    "loose",
	Order:   binary.LittleEndian,
	PtrSize: 8,

	RegisterFile: arch.RegisterFile{
		PC:          32,
		SP:          31,
		FP:          29,
		RA:          30,
		AddressMask: 1<<48 - 1,
	},

	StackRules: arch.StackRules{
		StackAlign:          16,
		FrameRecord:         16,
		FrameRecordAnywhere: true,
	},

	CodeReader: arch.CodeReader{
		AfterCall: func([]byte) bool { return true },
	},
}

var chained = &arch.Arch{
	Name:    "chained",
	Order:   binary.BigEndian,
	PtrSize: 8,

	RegisterFile: arch.RegisterFile{
		PC:          65,
		SP:          15,
		FP:          11,
		RA:          14,
		AddressMask: ^uint64(0),
	},

	StackRules: arch.StackRules{
		StackAlign:  8,
		SPFromCFA:   -160,
		BackChainRA: -48,
	},

	CodeReader: arch.CodeReader{
		AfterCall: func([]byte) bool { return true },
	},
}

type fake struct {
	arch  *arch.Arch
	regs  map[trad.Reg]uint64
	words map[uint64]uint64
}

func (f *fake) Arch() *arch.Arch                  { return f.arch }
func (f *fake) Memory() target.Memory             { return f }
func (f *fake) Threads() ([]target.Thread, error) { return []target.Thread{f}, nil }
func (f *fake) Close() error                      { return nil }
func (f *fake) ID() int                           { return 1 }
func (f *fake) Name() string                      { return "fake" }
func (f *fake) Modules() *target.Modules {
	return target.NewModules(nil, []target.Mapping{{Lo: codeLo, Hi: codeHi, Exec: true}, {Lo: 0x40000, Hi: 0x41000, Exec: true}})
}

func (f *fake) Registers(r *arch.Registers) error {
	for n, v := range f.regs {
		r.Set(n, v)
	}
	return nil
}

func (f *fake) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for ; n < len(p); n += f.arch.PtrSize {
		v, ok := f.words[addr+uint64(n)]
		if !ok {
			return n, target.ErrUnmapped
		}
		copy(p[n:], f.arch.AppendWord(nil, v))
	}
	return n, nil
}

func unwind(t *testing.T, f *fake) (stack string, last *frame.Frame) {
	t.Helper()
	return unwindBy(t, f, &fp.Guess{})
}

func unwindBy(t *testing.T, f *fake, guess *fp.Guess) (stack string, last *frame.Frame) {
	t.Helper()
	s, err := frame.New(f, f, frame.NewTable(f.arch, guess))
	if err != nil {
		t.Fatal(err)
	}
	for x, err := range s.All() {
		if err != nil {
			break
		}
		cfa, _ := x.CFA()
		stack += fmt.Sprintf("%#x@%#x ", x.PC(), cfa)
		last = x
	}
	return stack, last
}

// A record that lies anywhere in the frame tells PC and FP, but not SP.
func TestFrameRecordAnywhere(t *testing.T) {
	const signed = 0x55 << 48
	f := &fake{arch: loose,
		regs: map[trad.Reg]uint64{32: 0x1010, 31: stackBase, 29: stackBase + 32},
		words: map[uint64]uint64{
			stackBase + 32: stackBase + 112, stackBase + 40: signed | 0x1100,
			stackBase + 112: 0, stackBase + 120: 0,
		},
	}
	stack, last := unwind(t, f)
	if stack != "0x1010@0x7030 0x1100@0x7080 " || last.StopReason() != frame.Outermost {
		t.Errorf("stack %s, %v", stack, last.StopReason())
	}
	if v := last.Register(31); v.Known() {
		t.Errorf("SP of the caller is %v: a record does not tell it", v)
	}
	if v := last.Register(29); v.Bits != stackBase+112 {
		t.Errorf("FP of the caller is %v", v)
	}
	if last.Row().Flags&trad.Guess == 0 {
		t.Error("the row is no guess")
	}
	// If nothing can recognize calls, any address counts as one that follows a call.
	plain := *loose
	plain.AfterCall = nil
	f.arch, f.words[0x1100-arch.MaxCall] = &plain, 0
	if again, _ := unwind(t, f); again != stack {
		t.Errorf("without AfterCall: stack %s", again)
	}
}

func TestBackChain(t *testing.T) {
	const a, b, c = stackBase, stackBase + 160, stackBase + 480
	words := func(change ...uint64) map[uint64]uint64 {
		m := map[uint64]uint64{
			a: b, b + 112: 0x1100, // THIS has saved its return address above its caller's SP
			b: c, c + 112: 0x1200,
			c: 0,
		}
		for i := 0; i < len(change); i += 2 {
			m[change[i]] = change[i+1]
		}
		return m
	}
	for _, tt := range []struct {
		name  string
		words map[uint64]uint64
		want  string
	}{
		{"whole", words(), "0x1010@0x7140 0x1100@0x7280 0x1200@0x0 "},
		{"not outward", words(b, a), "0x1010@0x7140 0x1100@0x0 "},
		{"itself", words(b, b), "0x1010@0x7140 0x1100@0x0 "},
		{"not aligned", words(b, c+4), "0x1010@0x7140 0x1100@0x0 "},
		{"far away", words(b, 1<<40), "0x1010@0x7140 0x1100@0x0 "},
		{"no code", words(c+112, 0x3000), "0x1010@0x7140 0x1100@0x0 "},
		{"unreadable", words(b, c+1600), "0x1010@0x7140 0x1100@0x0 "},
	} {
		f := &fake{arch: chained, regs: map[trad.Reg]uint64{65: 0x1010, 15: a}, words: tt.words}
		stack, last := unwind(t, f)
		if stack != tt.want || last.StopReason().Whole() {
			t.Errorf("%s: stack %s, %v, want %s", tt.name, stack, last.StopReason(), tt.want)
		}
	}
	f := &fake{arch: chained, regs: map[trad.Reg]uint64{65: 0x1010, 15: a, 11: 7}, words: words()}
	s, err := frame.New(f, f, frame.NewTable(chained, &fp.Guess{}))
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Frame(1)
	if err != nil {
		t.Fatal(err)
	}
	if sp := x.Register(15); sp.Bits != b {
		t.Errorf("SP of the caller is %v, want %#x", sp, b)
	}
	if v := x.Register(11); v.Known() {
		t.Errorf("r11 of the caller is %v: the chain does not tell it", v)
	}
}

// TestFrameRecords: the forms of frame record on 32-bit Arm, of which each processor's documents
// have one: AAPCS32, 6.2.1.4 ("The frame pointer"), and "The ARM-THUMB Procedure Call Standard"
// (SWS ESPC 0002), 5.2. gcc's is in its own output.
func TestFrameRecords(t *testing.T) {
	const sp, outer = uint64(stackBase), uint64(stackBase + 0x100)
	for _, tt := range []struct {
		name  string
		fp    trad.Reg
		at    uint64 // of THIS's frame pointer
		words map[uint64]uint64
		want  string
	}{
		{"gcc", 11, sp + 12, map[uint64]uint64{sp + 8: outer + 4, sp + 12: 0x1100, sp + 16: 0, outer: 0, outer + 4: 0x1201, outer + 8: 0},
			"0x1010@0x7010 0x1100@0x7108 0x1200@0x0 "},
		{"AAPCS32", 11, sp + 8, map[uint64]uint64{sp + 4: 5, sp + 8: outer, sp + 12: 0x1101, outer - 4: 7, outer: 0, outer + 4: 0},
			"0x1010@0x7010 0x1100@0x7108 "},
		{"APCS", 11, sp + 12, map[uint64]uint64{sp: outer + 12, sp + 4: sp + 16, sp + 8: 0x1100, sp + 12: 0x1018, sp + 16: 0,
			outer: 0, outer + 4: outer + 16, outer + 8: 0x1200, outer + 12: 0x1118, outer + 16: 0},
			"0x1010@0x7010 0x1100@0x7110 0x1200@0x0 "},
		{"Thumb", 7, sp + 8, map[uint64]uint64{sp + 8: outer, sp + 12: 0x1101, outer: 0, outer + 4: 0},
			"0x1010@0x7010 0x1100@0x7108 "},
		{"nothing", 11, sp + 8, map[uint64]uint64{sp: 1, sp + 4: 2, sp + 8: 3, sp + 12: 4, sp + 16: 5}, "0x1010@0x0 "},
		{"inward", 11, sp - 8, map[uint64]uint64{sp - 8: outer, sp - 4: 0x1100}, "0x1010@0x0 "},
	} {
		f := &fake{arch: arm.Arch, regs: map[trad.Reg]uint64{15: 0x1010, 13: sp, tt.fp: tt.at}, words: tt.words}
		if stack, last := unwind(t, f); stack != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, stack, last.StopReason(), tt.want)
		}
		// Where the stack is scanned, r11 does not count: most libraries leave it to the program's
		// own frames.
		if tt.fp == 11 {
			tt.want = "0x1010@0x0 "
		}
		if stack, last := unwindBy(t, f, &fp.Guess{Scanned: true}); stack != tt.want {
			t.Errorf("%s, scanned: %s, %v; want %s", tt.name, stack, last.StopReason(), tt.want)
		}
	}
}

// A leaf function leaves its return address in the link register, and its caller's record at the
// frame pointer, or the back chain at SP (AAPCS64, 6.4.6; s390x ELF ABI, 1.2.2). The register
// counts only if it leads out of the function, and the record does not have it.
func TestLeaf(t *testing.T) {
	const near, far, none = 0x1100, 0x40100, 0
	record := map[uint64]uint64{stackBase + 32: stackBase + 112, stackBase + 40: 0x1200, stackBase + 112: 0, stackBase + 120: 0}
	chain := map[uint64]uint64{stackBase: stackBase + 160, stackBase + 160 + 112: 0x1200, stackBase + 160: 0}
	for _, tt := range []struct {
		name string
		arch *arch.Arch
		link uint64
		want string
	}{
		{"record: far", loose, far, "0x1010@0x7000 0x40100@0x7030 0x1200@0x7080 "},
		{"record: of a call that THIS has made", loose, near, "0x1010@0x7030 0x1200@0x7080 "},
		{"record: in the record, too", loose, 0x1200, "0x1010@0x7030 0x1200@0x7080 "},
		{"record: no code", loose, 0x99990, "0x1010@0x7030 0x1200@0x7080 "},
		{"record: none", loose, none, "0x1010@0x7030 0x1200@0x7080 "},
		{"back chain: far", chained, far, "0x1010@0x70a0 0x40100@0x7140 0x1200@0x0 "},
		{"back chain: of a call that THIS has made", chained, near, "0x1010@0x7140 0x1200@0x0 "},
		{"back chain: none", chained, none, "0x1010@0x7140 0x1200@0x0 "},
	} {
		f := &fake{arch: tt.arch, words: record, regs: map[trad.Reg]uint64{tt.arch.PC: 0x1010, tt.arch.SP: stackBase, tt.arch.FP: stackBase + 32}}
		if tt.arch == chained {
			f.words = chain
		}
		if tt.link != 0 {
			f.regs[tt.arch.RA] = tt.link
		}
		stack, last := unwind(t, f)
		if stack != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, stack, last.StopReason(), tt.want)
		}
	}
}
