package pdata

import "encoding/binary"

// Bytes of code that are read for an epilogue: one instruction of at most 8 bytes that frees the
// frame, pops, and a jump.
const maxEpilogue = 64

// InEpilogue reports whether, by the codes of version 2, rva is in an epilogue.
func (i *Info) InEpilogue(rva uint32) bool {
	for _, e := range i.Epilogues {
		if e.Begin <= rva && rva < e.End {
			return true
		}
	}
	return false
}

// epilogue reports whether the code at rva is the rest of an epilogue, and makes u what it undoes.
// An epilogue is one of few forms, so that it can be found so: rsp is freed, registers are popped,
// and the function returns, or jumps to another one. ("Epilog code")
func (t *Table) epilogue(f Function, info *Info, rva uint32, u *unwinder) bool {
	code := make([]byte, maxEpilogue)
	code = code[:t.r.ReadRVA(rva, code)]
	at := rva
	skip := func(n int) { code, at = code[n:], at+uint32(n) }
	sp := place{rsp, 0}
	if off, n := addsToSP(code); n > 0 {
		sp.off = off
		skip(n)
	} else if off, n := loadsSP(code, info.FPReg); n > 0 {
		sp = place{registers[info.FPReg], off}
		skip(n)
	}
	pops := map[uint8]place{}
	for {
		reg, n := pop(code)
		if n == 0 {
			// A method that has replaced another one on the stack frees both frames.
			off, n := addsToSP(code)
			if n == 0 || !t.unix {
				break
			}
			sp.off += off
			skip(n)
			continue
		}
		pops[reg] = sp
		sp.off += 8
		skip(n)
	}
	if !t.leaves(f, code, at) {
		return false
	}
	for reg, at := range pops {
		u.save(registers[reg], at)
	}
	u.sp = sp
	return true
}

// addsToSP reads "add rsp, number"; n is 0 if code does not begin with it.
func addsToSP(code []byte) (off int64, n int) {
	switch {
	case len(code) >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4:
		return int64(int8(code[3])), 4
	case len(code) >= 7 && code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4:
		return int64(int32(binary.LittleEndian.Uint32(code[3:]))), 7
	}
	return 0, 0
}

// loadsSP reads "lea rsp, [fp + number]", or "mov rsp, fp", which some compilers write; n is 0 if
// code does not begin with it.
func loadsSP(code []byte, fp uint8) (off int64, n int) {
	if fp == 0 || len(code) < 4 || code[0] != 0x48|fp>>3 {
		return 0, 0
	}
	if code[1] == 0x8b && code[2] == 0xe0|fp&7 {
		return 0, 3
	}
	if code[1] != 0x8d || code[2]>>3&7 != 4 || code[2]&7 != fp&7 {
		return 0, 0
	}
	mod, n := code[2]>>6, 3
	if fp&7 == 4 { // r12 needs another byte
		if code[n] != 0x24 {
			return 0, 0
		}
		n++
	}
	switch {
	case mod == 1 && len(code) > n:
		return int64(int8(code[n])), n + 1
	case mod == 2 && len(code) >= n+4:
		return int64(int32(binary.LittleEndian.Uint32(code[n:]))), n + 4
	}
	return 0, 0
}

// pop reads "pop reg"; n is 0 if code does not begin with it.
func pop(code []byte) (reg uint8, n int) {
	switch {
	case len(code) >= 1 && code[0]&0xf8 == 0x58:
		return code[0] & 7, 1
	case len(code) >= 2 && code[0] == 0x41 && code[1]&0xf8 == 0x58:
		return code[1]&7 | 8, 2
	}
	return 0, 0
}

// leaves reports whether code, which begins at the RVA at, begins with a return, or with a jump out
// of the function.
func (t *Table) leaves(f Function, code []byte, at uint32) bool {
	for len(code) > 1 && (code[0] == 0xf3 || code[0] == 0xf2) && (code[1] == 0xc3 || code[1] == 0xc2) { // rep ret, bnd ret
		code, at = code[1:], at+1
	}
	switch {
	case len(code) >= 1 && (code[0] == 0xc3 || code[0] == 0xc2):
		return true
	case len(code) >= 2 && code[0] == 0xeb:
		return t.jumpsOut(f, at+2+uint32(int32(int8(code[1]))))
	case len(code) >= 5 && code[0] == 0xe9:
		return t.jumpsOut(f, at+5+binary.LittleEndian.Uint32(code[1:]))
	case len(code) >= 2 && code[0] == 0xff && code[1] == 0x25: // through a pointer at a distance from rip
		return true
	case len(code) >= 3 && code[0]&0xf8 == 0x48 && code[1] == 0xff && code[2]>>3&7 == 4: // with REX.W: a tail call
		return true
	}
	return false
}

// jumpsOut reports whether a jump from f to an RVA leaves the function: it is not to another part
// of it, but may be to its beginning.
func (t *Table) jumpsOut(f Function, to uint32) bool {
	if t.unix {
		return !f.Contains(to) || to == f.Begin
	}
	there, ok := t.Find(to)
	if !ok {
		return true
	}
	own, err := t.Primary(f)
	if err != nil {
		return false
	}
	other, err := t.Primary(there)
	return err == nil && (other != own || to == own.Begin)
}
