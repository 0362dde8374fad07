package amd64

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// FuzzRunOn executes any code, which may write everywhere, with any registers.
func FuzzRunOn(f *testing.F) {
	// A loop that copies words down, and the jump behind it; a pushed loop; a call and its return.
	f.Add([]byte("\x49\x89\xe0\x4c\x29\xd4\x45\x33\xdb\x4f\x8b\x14\xd8\x4e\x89\x14\xdc\x49\xff\xc3\x4d\x3b\xd9\x7c\xf0\xff\xe1"), []byte("\x10\x20\x30"))
	f.Add([]byte("\x41\x5a\x42\xff\x34\xc1\x49\xff\xc0\x4d\x3b\xc3\x75\xf4\x41\x52\x55\x48\x89\xe5"), []byte{1, 2})
	f.Add([]byte("\xe8\x00\x00\x00\x00\x5b\xe8\x02\x00\x00\x00\xc9\xc3\xc3"), []byte{})
	f.Add([]byte("\x90\x90\x90\xe8\x00\x00\x00\x00\x48\x8b\x07\xf6\xc1\x3e\x75\x05\x41\x5f\x55\x48\x89\xe5\x48\x83\xc4\x08\x55\x48\x89\xe5"), []byte{0, 1, 0xff})
	f.Fuzz(func(t *testing.T, code, seed []byte) {
		const base, limit = 0x400000, 200
		if len(code) > 1<<12 {
			return
		}
		register := func(r trad.Reg) (uint64, bool) {
			if len(seed) == 0 {
				return base + 8*uint64(r), true
			}
			v := uint64(seed[int(r)%len(seed)])
			return base + 8*v, v != 0xff
		}
		read := func(addr uint64, p []byte) bool {
			if addr-base >= uint64(len(code)) || uint64(len(code))-(addr-base) < uint64(len(p)) {
				return false
			}
			copy(p, code[addr-base:])
			return true
		}
		// Where control forks, each way is executed.
		pc, called, most := uint64(0), len(code) > 8 && code[3] == 0xe8, limit
		if called {
			pc, most = 8, limit<<4
		}
		bounds.Hold(t, 1<<20, func() {
			row, _, steps := Arch.RunOn(base+pc, called, limit, register, read)
			if steps > most {
				t.Errorf("%d instructions", steps)
			}
			if row.Len == 0 {
				return
			}
			if row.CFA.Reg != RSP || row.CFA.Off < 0 || row.CFA.Off > maxOutward || row.RA.Kind != trad.InReg && row.RA.Kind != trad.Saved {
				t.Errorf("%s", row.Format(Arch.RegName))
			}
		})
	})
}

// TestRunOn executes the loops of V8's builtin functions. By the manuals of the processor, control
// comes to the function at 0x900 with the return address on top of the stack.
func TestRunOn(t *testing.T) {
	const (
		code, function, stack, ret = 0x800, 0x900, 0x10000, 0x123456
		shift                      = "\x49\x89\xe0" + "\x48\x29\xdc" + "\x45\x31\xdb" + // mov r8, rsp; sub rsp, rbx; xor r11d, r11d
			"\x4f\x8b\x14\xd8" + "\x4e\x89\x14\xdc" + "\x49\xff\xc3" + "\x4d\x39\xcb" + "\x7c\xf0" + // mov r10, [r8+r11*8]; mov [rsp+r11*8], r10; inc r11; cmp r11, r9; jl
			"\xff\xe1" // jmp rcx
		pushes = "\x41\x5a" + "\xff\x34\xd8" + "\xff\xcb" + "\x7f\xf9" + "\x41\x52" + "\xff\xe1" // pop r10; push [rax+rbx*8]; dec ebx; jg; push r10; jmp rcx
		begins = "\x55\x48\x89\xe5"
	)
	for _, tt := range []struct {
		name, code string
		pc         uint64
		regs       map[trad.Reg]uint64
		want       string
	}{
		{"before", shift, 0, map[trad.Reg]uint64{RBX: 16, R9: 4}, "CFA=rsp+8 RA=[CFA-8]"},
		{"the first word is loaded", shift, 13, map[trad.Reg]uint64{RBX: 16, R9: 4, R8: stack + 16, R10: ret}, "CFA=rsp RA=r10"},
		{"nothing is copied", shift, 9, map[trad.Reg]uint64{RBX: 16, R9: 4, R8: stack + 16}, "CFA=rsp+24 RA=[CFA-8]"},
		{"one word is copied", shift, 9, map[trad.Reg]uint64{RBX: 16, R9: 4, R8: stack + 16, R11: 1}, "CFA=rsp+8 RA=[CFA-8]"},
		{"the last comparison", shift, 23, map[trad.Reg]uint64{R9: 4, R8: stack + 16, R11: 4, RFLAGS: 1 << 6}, "CFA=rsp+8 RA=[CFA-8]"},
		{"popped", pushes, 2, map[trad.Reg]uint64{RBX: 3, R10: ret, RAX: stack + 64}, "CFA=rsp RA=r10"},
		{"popped, without the count", pushes, 2, map[trad.Reg]uint64{RBX: 1 << 20, R10: ret, RAX: stack + 64}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			register := func(r trad.Reg) (uint64, bool) {
				switch r {
				case RSP:
					return stack, true
				case RBP:
					return stack + 0x100, true
				case RCX:
					return function, true
				}
				return tt.regs[r], true
			}
			read := func(addr uint64, p []byte) bool {
				clear(p)
				switch {
				case addr >= code && addr < function:
					copy(p, tt.code[min(int(addr-code), len(tt.code)):])
				case addr >= function && addr < function+uint64(len(begins)):
					copy(p, begins[addr-function:])
				case addr == stack && tt.pc == 0 || addr == stack && tt.regs[R11] != 0 || addr == stack+16 && tt.regs[R8] != 0:
					binary.LittleEndian.PutUint64(p, ret)
				}
				return true
			}
			got := ""
			if row, returns, _ := Arch.RunOn(code+tt.pc, false, 300, register, read); row.Len > 0 {
				if returns || row.FP.Kind != trad.Same {
					t.Errorf("returns %v, FP %v", returns, row.FP)
				}
				row.Others, row.Flags, row.FP = nil, 0, trad.Rule{}
				got = row.Format(Arch.RegName)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
