package stub

import (
	"bytes"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// mark is a number that stubs keep which have doubles in place of the x87's numbers, and that no
// function returns.
var mark = []byte{0x00, 0xa8, 0x3c, 0x5a, 0x69, 0x96, 0xa5, 0xd3, 0x43, 0xbd}

// MarkX87 implements [inferior.X87Marker]. Instructions, GDB and most stubs number the x87's
// registers from the top of its stack on: what a function returns is in st0, and what was there is
// behind it. qemu's stub before release 10 numbers them as the processor has them: st0 is what it
// was, and the result is in another one. So st0 gets a value that is found again.
func (t *Thread) MarkX87() error {
	if t.process.target.Keeps() {
		return nil // gdbserver is right
	}
	if err := t.WriteRegister(x87(t.process.Arch())[0], 0, mark); err != nil {
		return err
	}
	t.marked = true
	return nil
}

// x87 returns the registers of the x87, st0 first.
func x87(a *arch.Arch) (list []trad.Reg) {
	for i := range a.WideRegs() {
		if r := a.WideRegs()[i].Num; a.IsX87(r) {
			list = append(list, r)
		}
	}
	return list
}

// x87 returns what the stub calls a register of the x87, of a thread that was marked and has run.
func (t *Thread) x87(r trad.Reg) (trad.Reg, error) {
	list := x87(t.process.Arch())
	top, err := t.X87Top()
	if err != nil || top == 0 {
		return r, err
	}
	b := make([]byte, len(mark))
	for i, st := range list {
		if err := t.Thread.ReadRegister(st, 0, b); err != nil {
			return r, err
		}
		if !bytes.Equal(b, mark) {
			continue
		}
		if i > 0 {
			return r, nil
		}
		return list[(int(r-list[0])+top)%len(list)], nil
	}
	return r, fmt.Errorf("thread %d: the stub may number the x87's registers from the top of its stack on, or not: the function has used them all", t.ID())
}
