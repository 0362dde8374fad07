package target

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// WritableMemory is a Memory that can be written.
type WritableMemory interface {
	Memory
	// WriteMemory writes p at addr. It returns how many bytes of p, from the first on, were
	// written, and an error if that is not all. Code can be written, too.
	WriteMemory(addr uint64, p []byte) (n int, err error)
}

// WideThread is a Thread that gives registers in their full width: a vector register has 16
// bytes or more, of which [Thread].Registers gives at most the low 64 bits.
type WideThread interface {
	Thread
	// ReadRegister fills b with the bytes of register r from offset on, as the register would lie
	// in memory. The error says that the thread has no such register, or that it is not as wide.
	ReadRegister(r trad.Reg, offset int, b []byte) error
}

// ReadWide returns the bytes of a wide register. If the thread's processor has only the first parts
// of the register, it returns their bytes.
func ReadWide(t WideThread, w *arch.WideReg) ([]byte, error) {
	b := make([]byte, w.Size())
	err := t.ReadRegister(w.Num, 0, b)
	for i := len(w.Parts) - 1; i > 0 && err != nil; i-- {
		b = b[:len(b)-w.Parts[i].Size]
		err = t.ReadRegister(w.Num, 0, b)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// WritableThread is a Thread whose registers can be written.
type WritableThread interface {
	WideThread
	// WriteRegister changes the bytes of register r from offset on to b, as the register would lie
	// in memory. The register's other bytes stay as they are.
	WriteRegister(r trad.Reg, offset int, b []byte) error
}
