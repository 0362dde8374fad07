package s390x

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// TestDecode: an instruction has the length and does to control
// what objdump says, and what is decoded without the library writes the same
// registers that the library says it writes.
func TestDecode(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libm.so.6"} {
		file := library(t, name)
		pcs, text := processor.Instructions(t, file)
		s := rowtest.Open(t, file)[0]
		for _, x := range rowtest.Open(t, file) {
			if x.Name == ".text" {
				s = x
			}
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		seen, quick, wrong := map[string]int{}, 0, 0
		astray := uint64(0)
		for i, pc := range pcs {
			if pc < s.Addr || i+1 == len(pcs) || pcs[i+1] > s.Addr+s.Size {
				continue
			}
			if strings.HasPrefix(text[pc], ".long") {
				astray = pc
			}
			if pc-astray < 16 {
				continue
			}
			p := data[pc-s.Addr : pcs[i+1]-s.Addr]
			o, ops := decode(data, int(pc-s.Addr), nil)
			op, args, _ := strings.Cut(text[pc], "\t")
			if seen[op]++; o.Flow == dataflow.Bad || int(o.Len) != len(p) {
				t.Errorf("%s %#x: %s: flow %d, %d bytes", name, pc, text[pc], o.Flow, o.Len)
			}
			if !flowAgrees(op, args, &o) {
				if wrong++; wrong < 20 {
					t.Errorf("%s %#x: %s: flow %d", name, pc, text[pc], o.Flow)
				}
			}
			set, ok := writtenByLibrary(p)
			same := op == "ltr" && p[1]>>4 == p[1]&15 // which it does not change
			if got, is := registersWritten(&o, ops); ok && is && !same {
				if quick++; got != set {
					if wrong++; wrong < 20 {
						t.Errorf("%s %#x: %s: writes %#x, the library %#x", name, pc, text[pc], got, set)
					}
				}
			}
		}
		t.Logf("%s: %d kinds of instructions, %d compared", name, len(seen), quick)
		if len(seen) < 150 || quick < 30000 {
			t.Errorf("%s: %d kinds of instructions, %d compared", name, len(seen), quick)
		}
	}
}

// registersWritten returns the registers that an instruction writes; is is false for an instruction
// that goes elsewhere.
func registersWritten(in *dataflow.Inst, ops []dataflow.Op) (set dataflow.Set, is bool) {
	set = in.Kill
	for _, o := range ops {
		if o.Kind != dataflow.Compare {
			set |= o.Dst.Bit()
		}
	}
	return set, in.Flow == dataflow.Next && !in.Nop
}

// flowAgrees reports whether an instruction that objdump shows as a branch, and
// no other, is one.
func flowAgrees(op, args string, o *dataflow.Inst) bool {
	switch {
	case op == "j" || op == "jg":
		return o.Flow == dataflow.Jump || o.Flow == dataflow.Stop
	case op == "br":
		return o.Flow == dataflow.To && Arch.RegName(trad.Reg(o.By)) == args[1:]
	case op == "b" || op == "bi":
		return o.Flow == dataflow.Away
	case op == "nop" || op == "nopr" || op == "jnop" || op == "jgnop" || strings.HasPrefix(op, "bcr") || args == "%r0" && strings.HasPrefix(op, "bn"):
		return o.Nop
	case op == "brasl" || op == "bras" || op == "bas" || op == "basr":
		switch {
		case strings.HasPrefix(args, "%r14,") && args != "%r14,%r0":
			return o.Flow == dataflow.Call
		case strings.HasPrefix(args, "%r0,") || strings.HasSuffix(args, ",%r0"):
			return o.Flow == dataflow.Next
		}
		return o.Flow == dataflow.Jump
	case strings.HasPrefix(op, "brc") || strings.HasPrefix(op, "brx"), op[0] == 'j':
		return o.Flow == dataflow.Branch || o.Flow == dataflow.BranchNE
	case len(op) > 2 && op[0] == 'b' && op[len(op)-1] == 'r' && op != "bctr" && op != "basr": // bher
		return o.Flow == dataflow.MaybeTo
	case op[0] == 'c' && strings.Contains(op, "j") && strings.Contains(args, " <"): // cgrje
		return o.Flow == dataflow.Branch || o.Flow == dataflow.BranchNE
	}
	return o.Flow == dataflow.Next || o.Flow == dataflow.MaybeTo
}

// TestWritten: what the frequent mistakes would be about. The Principles of Operation say which
// registers are written.
func TestWritten(t *testing.T) {
	bits := func(regs ...trad.Reg) (set dataflow.Set) {
		for _, r := range regs {
			set |= 1 << r
		}
		return set
	}
	for _, c := range []struct {
		name, code string
		want       dataflow.Set
	}{
		{"mr %r2,%r12", "\x1c\x2c", bits(R2, R3)},
		{"dlgr %r6,%r12", "\xb9\x87\x00\x6c", bits(R6, R7)},
		{"stm %r6,%r15,24(%r15)", "\x90\x6f\xf0\x18", 0},
		{"lm %r14,%r1,24(%r15)", "\x98\xe1\xf0\x18", bits(R14, R15, R0, R1)},
		{"mvcle %r2,%r8,0", "\xa8\x28\x00\x00", bits(R2, R3, R8, R9)},
		{"srst %r5,%r1", "\xb2\x5e\x00\x51", bits(R5, R1)},
		{"cs %r7,%r8,0(%r1)", "\xba\x78\x10\x00", bits(R7)},
		{"cdsg %r6,%r8,0(%r1)", "\xeb\x68\x10\x00\x00\x3e", bits(R6, R7)},
		{"axbr %f8,%f9", "\xb3\x4a\x00\x89", bits(F8, F10)},
		{"adbr %f8,%f9", "\xb3\x1a\x00\x89", bits(F8)},
		{"cdbr %f8,%f9", "\xb3\x19\x00\x89", 0},
		{"madbr %f8,%f9,%f10", "\xb3\x1e\x80\x9a", bits(F8)},
		{"ste %f8,0(%r1)", "\x70\x80\x10\x00", 0},
		{"cgdbr %r7,5,%f8", "\xb3\xa9\x50\x78", bits(R7)},
		{"cdgbr %f8,%r7", "\xb3\xa5\x00\x87", bits(F8)},
		{"vl %v8,0(%r1)", "\xe7\x80\x10\x00\x00\x06", bits(F8)},
		{"vl %v24,0(%r1)", "\xe7\x80\x10\x00\x08\x06", 0},
		{"vst %v8,0(%r1)", "\xe7\x80\x10\x00\x00\x0e", 0},
		{"vlgvg %r7,%v8,0", "\xe7\x78\x00\x00\x30\x21", bits(R7)},
		{"ltgr %r6,%r6", "\xb9\x02\x00\x66", bits(R6)},
		{"ltr %r6,%r6", "\x12\x66", 0},
		{"svc 4", "\x0a\x04", bits(R2)},
		{"ear %r12,%a0", "\xb2\x4f\x00\xc0", bits(R12)},
		{"trt 0(1,%r3),0(%r4)", "\xdd\x00\x30\x00\x40\x00", bits(R1, R2, R3)},
	} {
		o, ops := decode([]byte(c.code), 0, nil)
		if got, is := registersWritten(&o, ops); !is || got != c.want || int(o.Len) != len(c.code) {
			t.Errorf("%s: %#x, want %#x, %d bytes", c.name, got, c.want, o.Len)
		}
	}
	for _, p := range []string{"\x00\x00", "\x00\x01", "\xe3", "\xa7\x04\x00"} {
		want := dataflow.Bad
		if p[0] == 0 && p[1] == 0 {
			want = dataflow.Stop // no instruction ever
		}
		if o, _ := decode([]byte(p), 0, nil); o.Flow != want {
			t.Errorf("% x: flow %d", p, o.Flow)
		}
	}
}
