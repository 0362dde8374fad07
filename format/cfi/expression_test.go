package cfi_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// env is a frame whose register n holds 0x1000*n and whose memory reads as a
// string of bytes that count up from the address, in the order of the target.
type env struct{ opts cfi.Options }

var errUnmapped = errors.New("unmapped")

func (env) Register(r trad.Reg) (uint64, bool) { return 0x1000 * uint64(r), r < 64 }

func (e env) Word(addr uint64) (uint64, error) {
	if addr == 0xdead000 || addr+uint64(e.opts.PtrSize) > 0xdead000 && addr < 0xdead000 {
		return 0, errUnmapped
	}
	b := make([]byte, 8)
	for i := range e.opts.PtrSize {
		b[i] = byte(addr) + byte(i)
	}
	if e.opts.PtrSize == 4 {
		return uint64(e.opts.Order.Uint32(b)), nil
	}
	return e.opts.Order.Uint64(b), nil
}

// expr returns the expression with the given code, out of a row.
func expr(t testing.TB, opts cfi.Options, code []byte) trad.Expression {
	t.Helper()
	program := join(0x0c, 7, 8, 0x10, 3, len(code), code) // DW_CFA_expression r3
	o := opts.Order.(binary.AppendByteOrder)
	word := func(v uint64) []byte {
		if opts.PtrSize == 4 {
			return o.AppendUint32(nil, uint32(v))
		}
		return o.AppendUint64(nil, v)
	}
	entry := func(id uint32, body []byte) []byte {
		return join(o.AppendUint32(nil, uint32(4+len(body))), o.AppendUint32(nil, id), body)
	}
	data := join(entry(0xffffffff, join(4, 0, opts.PtrSize, 0, 1, 0x78, 16)), entry(0, join(word(0x1000), word(0x100), program)))
	s, err := cfi.Open(cfi.Debug, data, 0, opts)
	if err != nil {
		t.Fatal(err)
	}
	row, _, err := s.Row(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	return row.Others.Exprs[row.Others.Regs[0].Rule.Off]
}

const testCFA = 0x7000

// Operations, by DWARF 5, sections 2.5.1.1 to 2.5.1.5. The CFA lies on the stack
// at first.
func TestEval(t *testing.T) {
	i386 := amd64
	i386.PtrSize = 4
	big := amd64
	big.Order = binary.BigEndian
	minus1 := ^uint64(0)
	for _, test := range []struct {
		opts cfi.Options
		code []byte
		want uint64
		text string
	}{
		{amd64, join(0x96), testCFA, "nop"},
		{amd64, join(0x9c), testCFA, "call_frame_cfa"},
		{amd64, join(0x30), 0, "lit0"},
		{amd64, join(0x4f), 31, "lit31"},
		{amd64, join(0x03, u64(0x1122334455667788)), 0x1122334455667788, "addr 0x1122334455667788"},
		{i386, join(0x03, u32(0x11223344)), 0x11223344, "addr 0x11223344"},
		{amd64, join(0x08, 0xff), 255, "const1u 255"},
		{amd64, join(0x09, 0xff), minus1, "const1s -1"},
		{amd64, join(0x0a, u16(0xfffe)), 0xfffe, "const2u 65534"},
		{amd64, join(0x0b, u16(0xfffe)), minus1 - 1, "const2s -2"},
		{amd64, join(0x0c, u32(0xfffffffd)), 0xfffffffd, "const4u 4294967293"},
		{amd64, join(0x0d, u32(0xfffffffd)), minus1 - 2, "const4s -3"},
		{i386, join(0x0d, u32(0xfffffffd)), 0xfffffffd, "const4s -3"},
		{amd64, join(0x0e, u64(1<<63)), 1 << 63, "const8u 9223372036854775808"},
		{amd64, join(0x0f, u64(minus1)), minus1, "const8s -1"},
		{amd64, join(0x10, 0xe5, 0x8e, 0x26), 624485, "constu 624485"}, // section 7.6 has -123456 and others
		{amd64, join(0x11, 0xc0, 0xbb, 0x78), minus1 - 123455, "consts -123456"},
		{amd64, join(0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f), 1 << 63, "consts -9223372036854775808"},
		{amd64, join(0x77, 8), 0x7008, "breg7+8"},
		{amd64, join(0x77, 0x78), 0x6ff8, "breg7-8"},
		{amd64, join(0x92, 33, 0x7f), 0x20fff, "bregx 33-1"},
		{amd64, join(0x53), 0x3000, "reg3"},
		{amd64, join(0x90, 33), 0x21000, "regx 33"},

		{amd64, join(0x31, 0x32, 0x12, 0x22), 4, "lit1; lit2; dup; plus"},
		{amd64, join(0x31, 0x32, 0x13), 1, "lit1; lit2; drop"},
		{amd64, join(0x31, 0x32, 0x14), 1, "lit1; lit2; over"},
		{amd64, join(0x31, 0x32, 0x33, 0x15, 2), 1, "lit1; lit2; lit3; pick 2"},
		{amd64, join(0x31, 0x32, 0x16), 1, "lit1; lit2; swap"},
		// rot: the top becomes the third, the others move up.
		{amd64, join(0x31, 0x32, 0x33, 0x17), 2, "lit1; lit2; lit3; rot"},
		{amd64, join(0x31, 0x32, 0x33, 0x17, 0x13), 1, "lit1; lit2; lit3; rot; drop"},
		{amd64, join(0x31, 0x32, 0x33, 0x17, 0x13, 0x13), 3, "lit1; lit2; lit3; rot; drop; drop"},

		{amd64, join(0x09, 0xfb, 0x19), 5, "const1s -5; abs"},
		{amd64, join(0x3c, 0x3a, 0x1a), 8, "lit12; lit10; and"},
		{amd64, join(0x3c, 0x3a, 0x21), 14, "lit12; lit10; or"},
		{amd64, join(0x3c, 0x3a, 0x27), 6, "lit12; lit10; xor"},
		{amd64, join(0x3c, 0x20), minus1 - 12, "lit12; not"},
		{i386, join(0x3c, 0x20), 0xfffffff3, "lit12; not"},
		{amd64, join(0x3c, 0x1f), minus1 - 11, "lit12; neg"},
		{amd64, join(0x09, 0xf8, 0x32, 0x1b), minus1 - 3, "const1s -8; lit2; div"}, // signed
		{i386, join(0x09, 0xf8, 0x32, 0x1b), 0xfffffffc, "const1s -8; lit2; div"},
		{amd64, join(0x3c, 0x35, 0x1c), 7, "lit12; lit5; minus"},
		{amd64, join(0x3c, 0x35, 0x1d), 2, "lit12; lit5; mod"},
		{amd64, join(0x3c, 0x35, 0x1e), 60, "lit12; lit5; mul"},
		{amd64, join(0x3c, 0x23, 0x80, 1), 140, "lit12; plus_uconst 128"},
		{amd64, join(0x3c, 0x32, 0x24), 48, "lit12; lit2; shl"},
		{amd64, join(0x3c, 0x08, 64, 0x24), 0, "lit12; const1u 64; shl"},
		{i386, join(0x3c, 0x08, 30, 0x24), 0, "lit12; const1u 30; shl"},
		{amd64, join(0x09, 0xf8, 0x32, 0x25), 0x3ffffffffffffffe, "const1s -8; lit2; shr"},
		{amd64, join(0x09, 0xf8, 0x32, 0x26), minus1 - 1, "const1s -8; lit2; shra"},
		{i386, join(0x09, 0xf8, 0x32, 0x26), 0xfffffffe, "const1s -8; lit2; shra"},

		{amd64, join(0x31, 0x31, 0x29), 1, "lit1; lit1; eq"},
		{amd64, join(0x09, 0xff, 0x31, 0x2a), 0, "const1s -1; lit1; ge"}, // signed
		{i386, join(0x09, 0xff, 0x31, 0x2a), 0, "const1s -1; lit1; ge"},
		{amd64, join(0x32, 0x31, 0x2b), 1, "lit2; lit1; gt"},
		{amd64, join(0x32, 0x31, 0x2c), 0, "lit2; lit1; le"},
		{amd64, join(0x09, 0xff, 0x31, 0x2d), 1, "const1s -1; lit1; lt"},
		{amd64, join(0x32, 0x31, 0x2e), 1, "lit2; lit1; ne"},
		{amd64, join(0x31, 0x2f, u16(1), 0x32, 0x96), 1, "lit1; skip +1; lit2; nop"},
		{amd64, join(0x31, 0x30, 0x28, u16(1), 0x32), 2, "lit1; lit0; bra +1; lit2"},
		// Counts 5 down to 0.
		{amd64, join(0x35, 0x31, 0x1c, 0x12, 0x28, u16(0xfffa)), 0, "lit5; lit1; minus; dup; bra -6"},

		{amd64, join(0x08, 0x10, 0x06), 0x1716151413121110, "const1u 16; deref"},
		{i386, join(0x08, 0x10, 0x06), 0x13121110, "const1u 16; deref"},
		{amd64, join(0x08, 0x13, 0x94, 1), 0x13, "const1u 19; deref_size 1"},
		{amd64, join(0x08, 0x16, 0x94, 2), 0x1716, "const1u 22; deref_size 2"},
		{amd64, join(0x08, 0x17, 0x94, 2), 0x1817, "const1u 23; deref_size 2"},
		{amd64, join(0x08, 0x10, 0x94, 8), 0x1716151413121110, "const1u 16; deref_size 8"},
		{amd64, join(0x0c, u32(0xdeacffc), 0x94, 4), 0xfffefdfc, "const4u 233492476; deref_size 4"}, // end of a page
		{big, join(0x08, 0x10, 0x06), 0x1011121314151617, "const1u 16; deref"},
		{big, join(0x08, 0x13, 0x94, 1), 0x13, "const1u 19; deref_size 1"},
		{big, join(0x08, 0x16, 0x94, 2), 0x1617, "const1u 22; deref_size 2"},
		{big, join(0x08, 0x17, 0x94, 2), 0x1718, "const1u 23; deref_size 2"},
		{big, join(0x0a, 1, 2), 0x102, "const2u 258"},

		// x86 PLT, as linkers write it: rsp+8, and 8 more from byte 11 of an entry on.
		{amd64, join(0x77, 8, 0x80, 11, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x7010, "breg7+8; breg16+11; lit15; and; lit11; ge; lit3; shl; plus"},
		{amd64, join(0x77, 8, 0x80, 10, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x7008, "breg7+8; breg16+10; lit15; and; lit11; ge; lit3; shl; plus"},
	} {
		x := expr(t, test.opts, test.code)
		got, err := x.Eval(env{test.opts}, testCFA, true)
		if err != nil || got != test.want {
			t.Errorf("%s (%d-bit): %#x, %v; want %#x", test.text, 8*test.opts.PtrSize, got, err, test.want)
		}
		if x.String() != test.text {
			t.Errorf("%x is %q, want %q", test.code, x, test.text)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for _, test := range []struct {
		code []byte
		want string
		is   error
	}{
		{join(), "end at 0x2d: malformed DWARF expression: stack is empty", dwarfexpr.ErrMalformed},
		{join(0x22), "DW_OP_plus at 0x2d: malformed DWARF expression: stack is empty", dwarfexpr.ErrMalformed},
		{join(0x31, 0x16), "stack is too short", dwarfexpr.ErrMalformed},
		{join(0x15, 0), "stack is too short", dwarfexpr.ErrMalformed},
		{join(0x31, 0x30, 0x1b), "divides by zero", dwarfexpr.ErrMalformed},
		{join(0x31, 0x30, 0x1d), "divides by zero", dwarfexpr.ErrMalformed},
		{join(0x9c), "the CFA is what is being computed", dwarfexpr.ErrMalformed},
		{join(0x91, 8), "has no meaning", dwarfexpr.ErrMalformed},
		{join(0xff), "is unknown", dwarfexpr.ErrMalformed},
		{join(0x0c, 1, 2), "runs past the end", dwarfexpr.ErrMalformed},
		{join(0x2f, u16(0xfffd)), "no end after 4096 operations", dwarfexpr.ErrMalformed},
		{join(0x2f, u16(1)), "branches to +1, outside", dwarfexpr.ErrMalformed},
		{join(0x2f, u16(0xfffc)), "branches to -4, outside", dwarfexpr.ErrMalformed},
		{join(0x31, 0x12, 0x2f, u16(0xfffc)), "stack is full", dwarfexpr.ErrMalformed},
		{join(0x92, 0xff, 0xff, 0x7f, 0), "there is no register 2097151", dwarfexpr.ErrMalformed},
		{join(0x90, 64), "register 64", trad.ErrUnavailable},
		{join(0x0c, u32(0xdead000), 0x06), "DW_OP_deref at 0x32: unmapped", errUnmapped},
		{join(0x31, 0x94, 9), "reads 9 bytes, want 1 to 8", dwarfexpr.ErrMalformed},
		{join(0x31, 0x94, 0), "reads 0 bytes", dwarfexpr.ErrMalformed},
	} {
		v, err := expr(t, amd64, test.code).Eval(env{amd64}, testCFA, false)
		if err == nil || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.is) {
			t.Errorf("%x: %#x, %v; want %q", test.code, v, err, test.want)
		}
	}
}

// The C library's signal trampoline: every register comes from the frame that
// the kernel pushed, whose layout is struct sigcontext of the kernel's ABI, 40
// bytes above the stack pointer.
func TestSignalTrampoline(t *testing.T) {
	path := gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6")
	seen := false
	s := load(t, path, ".eh_frame", true).open(t)
	for f, err := range s.FDEs() {
		if err != nil {
			t.Fatal(err)
		}
		if !f.CIE.Signal {
			continue
		}
		row, _, err := s.Row(f.Start + 1)
		if err != nil {
			t.Fatal(err)
		}
		if row.RA.Kind != trad.Expr {
			continue // another of the library's signal frames
		}
		seen = true
		e := env{amd64}
		cfa, err := row.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		// The saved rsp is the CFA; rsp is 0x7000 here.
		if want, _ := e.Word(0x7000 + 160); cfa != want {
			t.Errorf("CFA %#x, want %#x", cfa, want)
		}
		for _, reg := range []struct {
			rule trad.Rule
			reg  trad.Reg
			off  uint64
		}{{row.RA, 16, 168}, {row.FP, 6, 120}, {row.Others.Rule(8), 8, 40}, {row.Others.Rule(7), 7, 160}, {row.Others.Rule(0), 0, 144}} {
			p, err := row.Place(reg.rule, reg.reg, e, cfa)
			if err != nil || p.Kind != trad.InMemory || p.Addr != 0x7000+reg.off {
				t.Errorf("register %d: %+v, %v; want in memory at %#x", reg.reg, p, err, 0x7000+reg.off)
			}
		}
	}
	if !seen {
		t.Error("no trampoline found")
	}
}
