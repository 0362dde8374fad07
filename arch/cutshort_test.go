package arch_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/trad"
)

// TestCutShort: a call that has written a part is known behind the instruction of a system call,
// and nowhere else; one that has written all, one that reads, and one that does not wait, are no
// such.
func TestCutShort(t *testing.T) {
	for _, tt := range []struct {
		what           string
		a              *arch.Arch
		number, result int64
		flags          uint64 // sendto's
		before         string
		want           bool
	}{
		{"write", amd64.Arch, 1, 100, 0, "\x90\x90\x0f\x05", true},
		{"write of all", amd64.Arch, 1, 4096, 0, "\x90\x90\x0f\x05", false},
		{"write that failed", amd64.Arch, 1, -11, 0, "\x90\x90\x0f\x05", false},
		{"write of nothing", amd64.Arch, 1, 0, 0, "\x90\x90\x0f\x05", false},
		{"write elsewhere", amd64.Arch, 1, 100, 0, "\x90\x90\x90\x90", false},
		{"no call", amd64.Arch, -1, 100, 0, "\x90\x90\x0f\x05", false},
		{"read", amd64.Arch, 0, 100, 0, "\x90\x90\x0f\x05", false},
		{"sendto", amd64.Arch, 44, 100, 0x4000, "\x90\x90\x0f\x05", true},
		{"sendto with MSG_DONTWAIT", amd64.Arch, 44, 100, 0x4040, "\x90\x90\x0f\x05", false},
		{"write", i386.Arch, 4, 100, 0, "\x90\x90\xcd\x80", true},
		{"write of all", i386.Arch, 4, 4096, 0, "\x90\x90\xcd\x80", false},
		{"no call", i386.Arch, -1, 100, 0, "\x90\x90\xcd\x80", false},
		{"sendto", i386.Arch, 369, 100, 0, "\x90\x90\xcd\x80", true},
	} {
		order, number := []trad.Reg{amd64.RDI, amd64.RSI, amd64.RDX, amd64.R10}, amd64.OrigRAX
		if tt.a == i386.Arch {
			order, number = []trad.Reg{i386.EBX, i386.ECX, i386.EDX, i386.ESI}, i386.OrigEAX
		}
		var r arch.Registers
		for i, v := range []uint64{7, 0x10000, 4096, tt.flags} {
			r.Set(order[i], v)
		}
		r.Set(number, uint64(tt.number))
		r.Set(tt.a.SystemResult, uint64(tt.result))
		c, ok := tt.a.SystemCalls.CutShort(&r, []byte(tt.before))
		if ok != tt.want || ok && (c.Number != uint64(tt.number) || c.Args[0] != 7 || c.Args[2] != 4096) {
			t.Errorf("%s: %s: %v %+v, want %v", tt.a.Name, tt.what, ok, c, tt.want)
		}
	}
}
