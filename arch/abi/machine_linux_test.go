package abi_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/trad"
)

// machine is a processor whose functions can be called here.
type machine struct {
	*arch.Arch
	triple string
	qemu   string   // "" for the processor itself
	cpu    []string // qemu's options for gdb: gdb 13 knows no mask for addresses that are signed
	// wide are the flags that give vectors registers. On amd64, gcc 12 zeroes the upper half of a
	// result in ymm0 if it is a union.
	wide   []string
	narrow []string // the flags that take them away, where a system has them by default
	vector uint64   // the size of the widest vector then
	floats []string // the floating-point types that not all processors have
	// register returns where struct block of testdata/driver.c has a register; ok is false if
	// nowhere.
	register func(trad.Reg) (at int, ok bool)
}

// Offsets into struct block, and its size.
const (
	blockVectors = 256
	blockST      = blockVectors + 1024
	blockSize    = blockST + 32
)

// order is the order in which s390x's DWARF numbers have 16 floating-point or vector registers (ELF
// ABI s390x supplement, "DWARF register number mapping").
var order = [...]int{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}

var machines = []*machine{
	{Arch: amd64.Arch, triple: "x86_64-linux-gnu", wide: []string{"-mavx", "-mno-vzeroupper"}, vector: 32, floats: []string{"_Float16", "__float128", "_Complex _Float128"}, register: func(r trad.Reg) (int, bool) {
		switch {
		case r < 16:
			return 8 * int(r), true
		case r >= 17 && r < 33:
			return blockVectors + 64*int(r-17), true
		case r == 33 || r == 34:
			return blockST + 16*int(r-33), true
		}
		return 0, false
	}},
	// No function takes vectors in MMX registers: gcc 14 leaves the x87 unusable behind one.
	{Arch: i386.Arch, triple: "i686-linux-gnu", wide: []string{"-msse2"}, vector: 16, floats: []string{"__float128"}, register: func(r trad.Reg) (int, bool) {
		switch {
		case r < 8:
			return 8 * int(r), true
		case r == i386.ST0:
			return blockST, true
		case r >= i386.XMM0 && r < i386.XMM0+8:
			return blockVectors + 32*int(r-i386.XMM0), true
		}
		return 0, false
	}},
	{Arch: arm64.Arch, triple: "aarch64-linux-gnu", qemu: "qemu-aarch64", cpu: []string{"-cpu", "cortex-a72"}, floats: []string{"_Float16"}, register: func(r trad.Reg) (int, bool) {
		switch {
		case r < 32:
			return 8 * int(r), true
		case r >= 64 && r < 96:
			return blockVectors + 16*int(r-64), true
		}
		return 0, false
	}},
	{Arch: s390x.Arch, triple: "s390x-linux-gnu", qemu: "qemu-s390x", wide: []string{"-march=z13"}, narrow: []string{"-march=z196"}, vector: 16, register: func(r trad.Reg) (int, bool) {
		switch {
		case r < 16:
			return 8 * int(r), true
		case r < 32:
			return blockVectors + 16*order[r-16], true
		case r >= 68 && r < 84:
			return blockVectors + 16*(16+order[r-68]), true
		}
		return 0, false
	}},
}

// base is where testdata/driver.c has the stack of the functions.
func (m *machine) base() uint64 {
	if m.PtrSize == 4 {
		return 0x20000000
	}
	return 0x200000000
}

// block is struct block of testdata/driver.c.
type block struct {
	*machine
	b []byte
}

func (r block) read(reg trad.Reg, offset int, b []byte) error {
	at, ok := r.register(reg)
	if !ok {
		return fmt.Errorf("no result is in register %d", reg)
	}
	copy(b, r.b[at+offset:])
	return nil
}
