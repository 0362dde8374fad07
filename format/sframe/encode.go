package sframe

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrCannotHold is wrapped by every EncodeError.
var ErrCannotHold = errors.New("the SFrame version cannot hold it")

// An EncodeError names a part of Contents that a version of the format cannot hold.
type EncodeError struct {
	Version Version
	Func    int    // index in Contents.Functions; -1: the section as a whole
	Entry   int    // index in the function's Entries; -1: the function as a whole
	Start   uint64 // of the function
	Msg     string // the part that cannot be held, and why
}

// Error returns the whole sentence.
func (e *EncodeError) Error() string {
	where := "header"
	switch {
	case e.Entry >= 0:
		where = fmt.Sprintf("function %d at %#x: entry %d", e.Func, e.Start, e.Entry)
	case e.Func >= 0:
		where = fmt.Sprintf("function %d at %#x", e.Func, e.Start)
	}
	return fmt.Sprintf("sframe: version %d cannot hold %s: %s", uint8(e.Version), where, e.Msg)
}

// Unwrap returns ErrCannotHold.
func (e *EncodeError) Unwrap() error { return ErrCannotHold }

// Encode returns the bytes of a section that holds c and lies at the link-time address addr. Each
// FRE gets the smallest data words that hold it, each function the smallest FRE type (not below its
// FREType). The FREs lie in the order of c.Functions, and so do the FDEs unless c.Flags has
// FDESorted. The error is an *EncodeError.
func (c *Contents) Encode(addr uint64) ([]byte, error) {
	e, err := newEncoder(c)
	if err != nil {
		return nil, err
	}
	fdes := make([]rawFDE, len(c.Functions))
	var fres []byte
	numFREs := 0
	for i := range c.Functions {
		f := &c.Functions[i]
		d := &fdes[i]
		if uint64(len(fres)) > math.MaxUint32 {
			return nil, e.cannot(i, -1, "its FREs would start at %#x, beyond the 4 GiB of an FRE sub-section", len(fres))
		}
		d.rel, d.fn, d.freOff = int64(f.Start-addr), i, uint32(len(fres))
		if fres, d.info, err = e.appendFREs(fres, i); err != nil {
			return nil, err
		}
		numFREs += len(f.Entries)
	}
	fdeSize := fdeSizes[c.Version]
	if uint64(len(fdes))*uint64(fdeSize) > math.MaxUint32 || uint64(numFREs) > math.MaxUint32 || uint64(len(fres)) > math.MaxUint32 {
		return nil, e.cannot(-1, -1, "%d FDEs, %d FREs and %#x bytes of FREs, of which each number is one of 32 bits", len(fdes), numFREs, len(fres))
	}
	if c.Flags&FDESorted != 0 {
		slices.SortStableFunc(fdes, func(a, b rawFDE) int { return cmp.Compare(a.rel, b.rel) })
	}

	out := make([]byte, 0, headerSize+len(c.AuxHeader)+len(fdes)*fdeSize+len(fres))
	out = e.AppendUint16(out, Magic)
	out = append(out, byte(c.Version), byte(c.Flags), byte(c.ABI), byte(c.FixedFP), byte(c.FixedRA), byte(len(c.AuxHeader)))
	for _, v := range [...]int{len(fdes), numFREs, len(fres), 0, len(fdes) * fdeSize} {
		out = e.AppendUint32(out, uint32(v))
	}
	out = append(out, c.AuxHeader...)
	for _, d := range fdes {
		if c.Flags&FDEFuncStartPCRel != 0 {
			d.rel -= int64(len(out))
		}
		if out, err = e.appendFDE(out, d); err != nil {
			return nil, err
		}
	}
	return append(out, fres...), nil
}

// A rawFDE is an FDE that is being encoded.
type rawFDE struct {
	rel    int64 // start relative to the section
	fn     int   // index in Contents.Functions
	freOff uint32
	info   uint8 // info byte, for V1 and V2
}

// An encoder writes the parts of a section.
type encoder struct {
	binary.AppendByteOrder
	*Contents
	sp, fp   uint16
	ra0, fp0 Rule // as in Section
}

// newEncoder checks the parts of c that concern the section as a whole.
func newEncoder(c *Contents) (*encoder, error) {
	e := &encoder{Contents: c, AppendByteOrder: binary.LittleEndian, sp: c.ABI.SP(), fp: c.ABI.FP(), ra0: fixedRule(c.FixedRA), fp0: fixedRule(c.FixedFP)}
	if c.ABI.bigEndian() {
		e.AppendByteOrder = binary.BigEndian
	}
	flags, abis, ok := limits(c.Version)
	switch {
	case !ok:
		return nil, e.cannot(-1, -1, "there is no such version")
	case c.ABI < AArch64BE || c.ABI > abis:
		return nil, e.cannot(-1, -1, "%v is not one of its ABIs", c.ABI)
	case c.Flags&^flags != 0:
		return nil, e.cannot(-1, -1, "the flags %v are not all its own", c.Flags)
	case len(c.AuxHeader) > math.MaxUint8:
		return nil, e.cannot(-1, -1, "an auxiliary header of %d bytes, expected at most 255", len(c.AuxHeader))
	}
	return e, nil
}

func (e *encoder) cannot(fn, entry int, format string, args ...any) error {
	err := &EncodeError{Version: e.Version, Func: fn, Entry: entry, Msg: fmt.Sprintf(format, args...)}
	if fn >= 0 {
		err.Start = e.Functions[fn].Start
	}
	return err
}

// appendFDE appends one element of the FDE sub-section.
func (e *encoder) appendFDE(out []byte, d rawFDE) ([]byte, error) {
	f := &e.Functions[d.fn]
	if e.Version == V3 {
		out = e.AppendUint64(out, uint64(d.rel))
		out = e.AppendUint32(out, f.Size)
		return e.AppendUint32(out, d.freOff), nil
	}
	if d.rel != int64(int32(d.rel)) {
		return nil, e.cannot(d.fn, -1, "its start is %#x bytes from its FDE or the section, which does not fit 32 bits", d.rel)
	}
	out = e.AppendUint32(out, uint32(d.rel))
	out = e.AppendUint32(out, f.Size)
	out = e.AppendUint32(out, d.freOff)
	out = e.AppendUint32(out, uint32(len(f.Entries)))
	out = append(out, d.info)
	if e.Version == V2 {
		out = append(out, f.RepSize, 0, 0)
	}
	return out, nil
}

// appendFREs appends function i's part of the FRE sub-section. In V3 that part begins with the
// function's attribute. info is the info byte that V1 and V2 put into the FDE.
func (e *encoder) appendFREs(out []byte, i int) (_ []byte, info uint8, err error) {
	f := &e.Functions[i]
	if err := e.checkFunction(i); err != nil {
		return nil, 0, err
	}
	info = byte(e.freType(f)) | byte(f.PCType)<<4 | byte(f.PauthKey)<<5
	t := f.Type
	if e.Version == V3 {
		for j := range f.Entries {
			if t == FDEDefault && !e.fitsDefault(&f.Entries[j]) {
				t = FDEFlex
			}
		}
		if f.Signal {
			info |= 0x80
		}
		out = e.AppendUint16(out, uint16(len(f.Entries)))
		out = append(out, info, byte(t), f.RepSize)
	}
	var w words
	last := uint32(0)
	for j := range f.Entries {
		entry := &f.Entries[j]
		if entry.Offset < last {
			return nil, 0, e.cannot(i, j, "start offset %#x after %#x, expected ascending order", entry.Offset, last)
		}
		last = entry.Offset
		if problem := e.words(&w, t, entry); problem != "" {
			return nil, 0, e.cannot(i, j, "CFA %v, RA %v, FP %v: %s", entry.CFA, entry.RA, entry.FP, problem)
		}
		switch e.freType(f) {
		case Addr1:
			out = append(out, byte(entry.Offset))
		case Addr2:
			out = e.AppendUint16(out, uint16(entry.Offset))
		default:
			out = e.AppendUint32(out, entry.Offset)
		}
		freInfo := byte(w.n)<<1 | byte(w.size>>1)<<5 // sizes 1, 2, 4 are 0, 1, 2
		if w.baseSP {
			freInfo |= 1
		}
		if entry.MangledRA {
			freInfo |= 0x80
		}
		out = append(out, freInfo)
		for _, v := range w.v[:w.n] {
			switch w.size {
			case 1:
				out = append(out, byte(v))
			case 2:
				out = e.AppendUint16(out, uint16(v))
			default:
				out = e.AppendUint32(out, uint32(v))
			}
		}
	}
	return out, info, nil
}

// checkFunction checks all of function i but its entries.
func (e *encoder) checkFunction(i int) error {
	f := &e.Functions[i]
	switch {
	case f.Start > math.MaxUint64-uint64(f.Size):
		return e.cannot(i, -1, "its size %#x goes beyond the address space", f.Size)
	case f.PCType > PCMask || f.Type > FDEFlex || f.FREType > Addr4 || f.PauthKey > PauthB:
		return e.cannot(i, -1, "unknown %v, %v, %v or %v", f.PCType, f.Type, f.FREType, f.PauthKey)
	case f.PCType == PCMask && f.RepSize == 0:
		return e.cannot(i, -1, "repeat size 0 in a function of PC type mask")
	case e.Version == V1 && (f.PCType == PCMask && f.RepSize != pltEntrySize || f.PCType == PCInc && f.RepSize != 0):
		return e.cannot(i, -1, "repeat size %d; only %d is understood, and only with PC type mask", f.RepSize, pltEntrySize)
	case f.PauthKey == PauthB && e.ABI != AArch64LE && e.ABI != AArch64BE:
		return e.cannot(i, -1, "%v, which AArch64 alone has", f.PauthKey)
	case f.Signal && e.Version != V3:
		return e.cannot(i, -1, "a signal frame")
	case f.Type == FDEFlex && e.Version != V3:
		return e.cannot(i, -1, "%v", f.Type)
	case e.Version == V3 && len(f.Entries) > math.MaxUint16:
		return e.cannot(i, -1, "%d FREs, expected at most 65535", len(f.Entries))
	}
	return nil
}

// freType returns the smallest FRE type for the start offsets, but none below
// the function's own.
func (e *encoder) freType(f *Function) FREType {
	t := f.FREType
	if n := len(f.Entries); n > 0 {
		switch last := f.Entries[n-1].Offset; {
		case last > math.MaxUint16:
			t = Addr4
		case last > math.MaxUint8:
			t = max(t, Addr2)
		}
	}
	return t
}
