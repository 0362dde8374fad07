package sframe

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The structures of the specification, for sections made by hand.

type headerLayout struct {
	Magic            uint16
	Version, Flags   uint8
	ABI              uint8
	FixedFP, FixedRA int8
	AuxLen           uint8
	NumFDEs, NumFREs uint32
	FRELen           uint32
	FDEOff, FREOff   uint32
}

type fdeV1 struct {
	Start                 int32
	Size, FREOff, NumFREs uint32
	Info                  uint8
}

type fdeV2 struct {
	Start                 int32
	Size, FREOff, NumFREs uint32
	Info, RepSize         uint8
	Padding               uint16
}

type indexV3 struct {
	Start        int64
	Size, FREOff uint32
}

var (
	little binary.ByteOrder = binary.LittleEndian
	big    binary.ByteOrder = binary.BigEndian
)

// pack writes values one after the other without padding.
func pack(t testing.TB, order binary.ByteOrder, values ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, order, v); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// section returns a section of the header h, which it fills in, the FDEs and the bytes of the FRE
// sub-section.
func section(t testing.TB, order binary.ByteOrder, h headerLayout, fdes []any, fres []byte) []byte {
	t.Helper()
	f := pack(t, order, fdes...)
	h.Magic = Magic
	h.NumFDEs, h.FRELen = uint32(len(fdes)), uint32(len(fres))
	h.FREOff = h.FDEOff + uint32(len(f))
	head := pack(t, order, h, make([]byte, int(h.AuxLen)+int(h.FDEOff)))
	return append(append(head, f...), fres...)
}

func mustOpen(t testing.TB, data []byte, addr uint64) *Section {
	t.Helper()
	s, err := Open(data, addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
