package inferior

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/frame"
)

// Return makes PREVIOUS of f frame 0, as if f and the frames inner to it had returned: GDB's return
// (frame_pop). f is of the thread's stack as it is now. The functions do not run to their ends:
// what they would have done is left undone, unlocking among that. If value is not nil, it is what
// f's function, whose type is fn, returns. After an error the thread is as it was.
func (r *Runner) Return(f *frame.Frame, fn *abi.Func, value []byte) (err error) {
	a := r.process.Arch()
	prev, err := f.Prev()
	if err != nil {
		return err
	}
	if prev == nil {
		return fmt.Errorf("frame %v is outermost: it returns to nowhere", f)
	}
	var write []abi.Register
	if value != nil {
		if write, err = resultRegisters(a, fn, value); err != nil {
			return err
		}
	}
	if err := r.thread.Save(); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = r.thread.Drop()
		} else if left := r.thread.Restore(); left != nil {
			err = errors.Join(err, left)
		}
	}()
	for _, info := range a.Regs {
		v := prev.Register(info.Num)
		if info.Num == a.PC || !v.Known() || v.Lval == frame.InRegister && v.Reg == info.Num {
			continue
		}
		if err := r.thread.WriteRegister(info.Num, 0, a.RegisterBytes(info.Num, v.Bits)); err != nil {
			return fmt.Errorf("write %s of frame %v: %w", info.Name, prev, err)
		}
	}
	for _, w := range write {
		if err := r.thread.WriteRegister(w.Reg, w.Offset, w.Bytes); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	return r.thread.Jump(prev.PC())
}

func bigEndian(a *arch.Arch) bool { return a.Order.Uint16([]byte{0, 1}) == 1 }
