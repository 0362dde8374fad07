package x86

import (
	"math"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// mostDispatch bounds the instructions that Dispatch reads.
const mostDispatch = 48

// Dispatch implements arch.CodeReader.Dispatch for code of 64 bits. It follows straight code from
// the entry to the first comparison, or computed address, that depends on a number of the object.
func (d *Decoder) Dispatch(code []byte) (off int32, width int, ok bool) {
	type number struct {
		off   int32
		width int
	}
	object := d.number[numberDI].Bit()                        // the registers that point to it
	numbers := map[dataflow.Reg]number{}                      // of it, in registers
	in := func(a x86asm.Arg, bytes int) (n number, ok bool) { // reports whether an operand is such a number
		m, is := a.(x86asm.Mem)
		base := d.wide(m.Base)
		if !is || m.Segment != 0 || m.Index != 0 || base == dataflow.None || !object.Has(base) || m.Disp < 0 || m.Disp > math.MaxInt32 || bytes < 1 || bytes > 4 {
			return n, false
		}
		return number{int32(m.Disp), bytes}, true
	}
	general := func(a x86asm.Arg) dataflow.Reg {
		if r, is := a.(x86asm.Reg); is {
			return d.general(r)
		}
		return dataflow.None
	}
	for range mostDispatch {
		x, err := x86asm.Decode(code, d.mode)
		if err != nil || x.Len <= 0 || x.Len > len(code) {
			return 0, 0, false
		}
		code = code[x.Len:]
		dst, src := general(x.Args[0]), general(x.Args[1])
		switch x.Op {
		case x86asm.CMP, x86asm.TEST, x86asm.BT:
			if n, is := in(x.Args[0], x.MemBytes); is {
				return n.off, n.width, true
			}
			if n, is := numbers[dst]; is && dst != dataflow.None {
				return n.off, n.width, true
			}
			continue
		case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD:
			if n, is := in(x.Args[1], x.MemBytes); is && dst != dataflow.None {
				object &^= dst.Bit()
				numbers[dst] = n
				continue
			}
			if m, is := x.Args[1].(x86asm.Mem); is && m.Index != 0 { // of a table
				if n, is := numbers[d.wide(m.Index)]; is {
					return n.off, n.width, true
				}
			}
			if dst != dataflow.None && src != dataflow.None {
				n, is := numbers[src]
				delete(numbers, dst)
				if is {
					numbers[dst] = n
				}
				if object &^= dst.Bit(); object.Has(src) && d.wideArg(&x, 0) != dataflow.None {
					object |= dst.Bit()
				}
				continue
			}
		case x86asm.ADD, x86asm.SUB, x86asm.DEC, x86asm.INC, x86asm.AND: // of a number it stays one
			if _, is := numbers[dst]; is {
				continue
			}
		case x86asm.PUSH, x86asm.NOP:
			continue
		case x86asm.JMP, x86asm.CALL, x86asm.RET:
			return 0, 0, false
		}
		if rel, is := x.Args[0].(x86asm.Rel); is && rel != 0 {
			return 0, 0, false
		}
		kill := d.killed(&x)
		object &^= kill
		for r := range numbers {
			if kill.Has(r) {
				delete(numbers, r)
			}
		}
	}
	return 0, 0, false
}
