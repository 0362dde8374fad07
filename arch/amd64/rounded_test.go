package amd64

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Where the innermost CFA is of code that rounds the stack pointer down, by the manual (Intel SDM,
// volume 2: AND, PUSH, SUB). The last byte of each code is where the frame is looked at.
func TestReadRounded(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		align      uint32
		cfa        int32 // from SP
		rbx        trad.Rule
	}{
		{"sub rsp,0x4110; and rsp,-64", "\x48\x81\xec\x10\x41\x00\x00\x48\x83\xe4\xc0\x90", 64, 8 + 0x4110, trad.Rule{Kind: trad.Undefined}},
		{"push rbx; and rsp,-32; push rax", "\x53\x48\x83\xe4\xe0\x50\x90", 32, 8 + 8 + 8, trad.Rule{Kind: trad.Saved, Off: -16}},
		{"and rsp,-16; call; jmp back", "\x48\x83\xe4\xf0\xff\xd7\x90\xeb\xfb\x90", 0, 0, trad.Rule{}}, // not reached
		{"the frame pointer keeps it", "\x55\x48\x89\xe5\x48\x83\xe4\xe0\x90", 0, 0, trad.Rule{}},
		{"set again", "\x48\x83\xe4\xe0\x48\x89\xd4\x90", 0, 0, trad.Rule{}},
		{"rounded twice", "\x48\x83\xe4\xe0\x48\x83\xe4\xc0\x90", 0, 0, trad.Rule{}},
		{"rounded on one of two ways", "\x48\x85\xff\x74\x04\x48\x83\xe4\xe0\x90", 0, 0, trad.Rule{}},
		{"another register", "\x48\x83\xe0\xe0\x90", 0, 0, trad.Rule{}},
		{"no mask of leading ones", "\x48\x83\xe4\xe1\x90", 0, 0, trad.Rule{}},
	} {
		const start = 0x1000
		row, align, _ := Arch.ReadRounded([]byte(tt.code), start, start+uint64(len(tt.code))-1)
		if align != tt.align {
			t.Errorf("%s: a multiple of %d, want %d", tt.name, align, tt.align)
			continue
		}
		if align == 0 {
			continue
		}
		if want := (trad.Rule{Kind: trad.InReg, Reg: RSP, Off: tt.cfa}); row.CFA != want || row.RA != (trad.Rule{Kind: trad.Saved, Off: -8}) {
			t.Errorf("%s: %s", tt.name, row.Format(Arch.RegName))
		}
		for _, r := range row.Others.Regs {
			if r.Reg == RBX && r.Rule != tt.rbx {
				t.Errorf("%s: %s", tt.name, row.Format(Arch.RegName))
			}
		}
	}
}

// How code leaves its function, by the manual.
func TestExitsComputed(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       arch.Exits
	}{
		{"ret", "\xc3", arch.Returns},
		{"pop rbx; jmp rax", "\x5b\xff\xe0", arch.Returns | arch.Computed},
		{"je over ret; jmp rax", "\x74\x01\xc3\xff\xe0", arch.Returns | arch.Computed},
		{"jmp to itself", "\xeb\xfe", 0},
		{"jmp elsewhere", "\xe9\x00\x10\x00\x00", arch.Jumps},
	} {
		if got := Arch.Exits([]byte(tt.code), 0); got != tt.want {
			t.Errorf("%s: %b, want %b", tt.name, got, tt.want)
		}
	}
}

// Where direct jumps lead, by the manual.
func TestJumpsAway(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       []uint64
	}{
		{"jmp +0x1000", "\xe9\x00\x10\x00\x00", []uint64{0x5005}},
		{"ret; jmp back", "\xc3\xeb\x80", []uint64{0x4003 - 0x80}},
		{"within", "\xeb\x00\x90", nil},
		{"je, call, jmp rax", "\x0f\x84\x00\x10\x00\x00\xe8\x00\x10\x00\x00\xff\xe0", nil},
		{"no instruction, then a jump", "\x06\xe9\x00\x10\x00\x00", []uint64{0x5006}},
		{"cut off", "\xe9\x00\x10", nil},
	} {
		if got, _ := Arch.JumpsAway([]byte(tt.code), 0x4000); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}
