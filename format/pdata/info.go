package pdata

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Op is the operation of a [Code]. ("Unwind operation code")
type Op uint8

// The operations. Epilog and Spare are of version 2.
const (
	PushNonvol    Op = 0  // push a register
	AllocLarge    Op = 1  // allocate Size bytes of the stack
	AllocSmall    Op = 2  // allocate Size bytes of the stack
	SetFPReg      Op = 3  // set the frame pointer
	SaveNonvol    Op = 4  // save a register at Offset
	SaveNonvolFar Op = 5  // save a register at Offset
	Epilog        Op = 6  // where an epilogue is
	Spare         Op = 7  // nothing
	SaveXMM       Op = 8  // save an XMM register at Offset, 16 bytes
	SaveXMMFar    Op = 9  // save an XMM register at Offset, 16 bytes
	PushMachFrame Op = 10 // the processor has pushed SS, RSP, RFLAGS, CS, RIP, and an error code if Info is 1
	SetFPRegLarge Op = 11 // set the frame pointer, further away; .NET's for Unix alone
)

// Code is an unwind code: what one instruction of a prologue does.
type Code struct {
	At     uint8 // offset of the instruction's end from the function's beginning, bytes
	Op     Op
	Info   uint8  // the register's number: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8 r8, …
	Offset uint32 // from the frame's base, bytes
	Size   uint32 // bytes
}

// Info is the unwind information of a function. ("struct UNWIND_INFO")
type Info struct {
	Version    uint8
	Flags      uint8
	Prologue   uint8  // its size, bytes
	FPReg      uint8  // the frame pointer's number as in [Code]; 0 if there is none
	FPOffset   uint32 // the frame pointer's distance from rsp where it is set, bytes
	Codes      []Code // the last instruction of the prologue first
	Epilogues  []Range
	Chained    *Function // whose codes follow these; nil if there is none
	Handler    uint32    // RVA of the language-specific handler; 0 if there is none
	hasMachine bool
}

// Range is a part of a function's code: [Begin, End), RVAs.
type Range struct{ Begin, End uint32 }

// Flags of [Info].
const (
	FlagExceptionHandler   = 1 // the function has an exception handler
	FlagTerminationHandler = 2 // the function has a termination handler
	FlagChained            = 4 // the codes of another entry follow
)

// maxChain bounds how many entries are chained to each other. Compilers chain two or three.
const maxChain = 32

var (
	errChain   = errors.New("too many entries are chained to each other")
	errVersion = errors.New("unknown version")
	errCode    = errors.New("unknown unwind code")
	errCut     = errors.New("an unwind code lacks its operand")
)

// Info reads the unwind information of f.
func (t *Table) Info(f Function) (*Info, error) {
	f, err := t.direct(f)
	if err != nil {
		return nil, err
	}
	info, err := t.info(f)
	if err != nil {
		return nil, fmt.Errorf("unwind information at %#x of the function at %#x: %w", f.Unwind, f.Begin, err)
	}
	return info, nil
}

func (t *Table) info(f Function) (*Info, error) {
	var b [4 + 2*256 + functionSize]byte
	n := t.r.ReadRVA(f.Unwind, b[:])
	if n < 4 {
		return nil, errShort
	}
	i := &Info{Version: b[0] & 7, Flags: b[0] >> 3, Prologue: b[1], FPReg: b[3] & 15, FPOffset: uint32(b[3]>>4) * 16}
	if i.Version != 1 && i.Version != 2 {
		return nil, fmt.Errorf("%w %d", errVersion, i.Version)
	}
	slots := int(b[2])
	if n < 4+2*slots {
		return nil, errShort
	}
	if err := i.readCodes(f, b[4:4+2*slots], t.unix); err != nil {
		return nil, err
	}
	rest := b[min(n, 4+2*(slots+slots&1)):n]
	switch {
	case i.Flags&FlagChained != 0:
		if len(rest) < functionSize {
			return nil, errShort
		}
		chained := parseFunction(rest)
		i.Chained = &chained
	case i.Flags&(FlagExceptionHandler|FlagTerminationHandler) != 0 && len(rest) >= 4:
		i.Handler = binary.LittleEndian.Uint32(rest)
	}
	return i, nil
}

// readCodes reads the array of unwind codes.
func (i *Info) readCodes(f Function, b []byte, unix bool) error {
	first := true // of the codes of epilogues
	var size uint32
	for len(b) > 0 {
		c := Code{At: b[0], Op: Op(b[1] & 15), Info: b[1] >> 4}
		slots := 1
		switch c.Op {
		case AllocLarge:
			slots = 2 + int(c.Info)
			if c.Info > 1 {
				return fmt.Errorf("%w: large allocation of kind %d", errCode, c.Info)
			}
		case SaveNonvol, SaveXMM:
			slots = 2
		case SaveNonvolFar, SaveXMMFar, SetFPRegLarge:
			slots = 3
		case Epilog, Spare:
			if i.Version == 1 {
				return fmt.Errorf("%w %d", errCode, c.Op)
			}
			if c.Op == Spare {
				slots = 2
			}
		}
		if len(b) < 2*slots {
			return errCut
		}
		operand := uint32(0)
		switch slots {
		case 2:
			operand = uint32(binary.LittleEndian.Uint16(b[2:]))
		case 3:
			operand = binary.LittleEndian.Uint32(b[2:])
		}
		b = b[2*slots:]
		switch c.Op {
		case PushNonvol, SetFPReg:
		case AllocSmall:
			c.Size = uint32(c.Info)*8 + 8
		case AllocLarge:
			if c.Size = operand; c.Info == 0 {
				c.Size *= 8
			}
		case SaveNonvol:
			c.Offset = operand * 8
		case SaveXMM:
			c.Offset = operand * 16
		case SaveNonvolFar, SaveXMMFar:
			c.Offset = operand
		case SetFPRegLarge:
			if !unix {
				return fmt.Errorf("%w %d", errCode, c.Op)
			}
			i.FPOffset = operand * 16
		case PushMachFrame:
			if i.hasMachine = true; c.Info > 1 {
				return fmt.Errorf("%w: machine frame of kind %d", errCode, c.Info)
			}
		case Epilog:
			// The first one has the size of each, and whether there is one at the function's end.
			// The others, and the first one's, have its distance from there; 0 is padding.
			from := uint32(c.At) | uint32(c.Info)<<8
			if first {
				if size = uint32(c.At); c.Info&1 == 0 {
					from = 0
				} else {
					from = size
				}
				first = false
			}
			if from > 0 && from <= f.End-f.Begin {
				i.Epilogues = append(i.Epilogues, Range{f.End - from, min(f.End-from+size, f.End)})
			}
			continue
		case Spare:
			continue
		default:
			return fmt.Errorf("%w %d", errCode, c.Op)
		}
		i.Codes = append(i.Codes, c)
	}
	return nil
}
