package cfi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/pages"
	"github.com/sfwalk/sfwalk/trad"
)

// Kind is the kind of a section. The kinds differ in how an FDE refers to its CIE and
// in how addresses are written.
type Kind uint8

const (
	EH    Kind = iota // .eh_frame (LSB Core, "Exception Frames")
	Debug             // .debug_frame (DWARF 5, section 6.4.1)
)

func (k Kind) String() string {
	if k == Debug {
		return ".debug_frame"
	}
	return ".eh_frame"
}

// ABI describes what a section does not tell about its machine.
type ABI struct {
	Order   binary.ByteOrder
	PtrSize int      // bytes in an address: 4 or 8
	FP      trad.Reg // the register whose rule goes to Row.FP
	// Link is the return address column of nearly all tables. If it is 0, all columns are treated
	// alike. PC is the number of the program counter if the table may have a rule for it beside the
	// rule for the return address column, as on AArch64 (AADWARF64, section 4.1); else 0.
	Link, PC trad.Reg
	// PAuth says that the instructions 0x2b to 0x2d are AArch64's for signed return
	// addresses (AADWARF64). Elsewhere they are errors.
	PAuth bool
	// Exchanged are the numbers of two registers, SP first, that .eh_frame of some systems has the
	// other way round: 4 and 5 of 32-bit x86, on Darwin and elsewhere that compilers do not follow
	// System V there. A CIE that gives the CFA from the second one, at the distance of a return
	// address, has them so: at a function's entry, that is SP. Both are 0 where all tables agree.
	Exchanged [2]trad.Reg
	// Doubles is the number of the first of 16 registers that some tables name by numbers of their
	// own, and others by the numbers of their halves: D0 of 32-bit Arm, 256. Halves is the number
	// of the first half, S0, 64. A rule of a double is the rule of its first half. Both are 0
	// elsewhere.
	Doubles, Halves trad.Reg
}

// Options are the arguments of [Open] that depend on the file.
type Options struct {
	ABI
	// Header is the section's .eh_frame_hdr, HeaderAddr its address. If there is
	// none, or it cannot be used, the first look-up builds an index.
	Header     []byte
	HeaderAddr uint64
	// HeaderPages is Header for a header that is read as it is needed.
	HeaderPages *pages.Bytes
	// TextBase and DataBase are the addresses that DW_EH_PE_textrel and
	// DW_EH_PE_datarel pointers in .eh_frame are relative to; 0 if not known.
	TextBase, DataBase uint64
	// Room reports whether an index of the given number of bytes may be built. nil allows any
	// index. Without the index, look-ups that need it find nothing.
	Room func(bytes int64) bool
	// Thunk reports whether a thunk's code begins at an address, in the middle of a function: code
	// that a call pushes a return address for, which that code drops or replaces. GCC says of such
	// code that the CFA's offset is two words, and goes on as if it had not said so. Where Thunk
	// returns true, that instruction is left out. nil if no table has it.
	Thunk func(addr uint64) bool
}

// Section is an open section. It keeps the bytes that it was opened with and never
// changes them. It is safe for concurrent use.
type Section struct {
	Kind Kind // which section it is

	pages    *pages.Bytes
	paged    bool   // data is nil: pages reads bytes as they are needed
	data     []byte // of pages, if they are all there
	size     int    // bytes
	addr     uint64
	big      bool
	ptrSize  uint8
	pauth    bool
	fp       trad.Reg
	pc, link trad.Reg
	exchange [2]trad.Reg // see ABI.Exchanged

	doubles, halves trad.Reg // see ABI.Doubles
	textBase        uint64
	dataBase        uint64

	header header
	once   sync.Once // builds index
	index  index
	room   func(bytes int64) bool // see Options
	thunk  func(addr uint64) bool // see Options

	prepared   [4]atomic.Pointer[prepared] // CIEs that were used last, by offset
	otherRules otherRulesCache
}

// Open opens a section with the bytes data and the address addr. The bytes may hold
// several parts with zero terminators between them, and trailing zeros. An error
// means that the arguments make no sense; Open does not read the bytes.
func Open(kind Kind, data []byte, addr uint64, opts Options) (*Section, error) {
	return OpenPages(kind, pages.Of(data), addr, opts)
}

// OpenPages is [Open] for bytes that are read as look-ups need them.
func OpenPages(kind Kind, bytes *pages.Bytes, addr uint64, opts Options) (*Section, error) {
	switch {
	case kind != EH && kind != Debug:
		return nil, fmt.Errorf("cfi: unknown kind of section %d", kind)
	case opts.Order == nil:
		return nil, errors.New("cfi: Options.Order is not set")
	case opts.PtrSize != 4 && opts.PtrSize != 8:
		return nil, fmt.Errorf("cfi: pointer size is %d bytes, want 4 or 8", opts.PtrSize)
	case uint64(bytes.Len()) > math.MaxUint32:
		return nil, fmt.Errorf("cfi: %v of %d bytes is too large, want less than 4 GiB", kind, bytes.Len())
	}
	s := &Section{
		Kind: kind, pages: bytes, paged: bytes.Paged(), size: bytes.Len(), addr: addr,
		big:     opts.Order.Uint16([]byte{0, 1}) == 1,
		ptrSize: uint8(opts.PtrSize), pauth: opts.PAuth, fp: opts.FP, pc: opts.PC, link: opts.Link,
		doubles: opts.Doubles, halves: opts.Halves,
		textBase: opts.TextBase, dataBase: opts.DataBase, room: opts.Room, thunk: opts.Thunk,
	}
	if !s.paged {
		s.data, _ = bytes.View(0, s.size)
	}
	if kind == EH {
		s.exchange = opts.Exchanged
		header := opts.HeaderPages
		if header == nil {
			header = pages.Of(opts.Header)
		}
		s.header.open(header, opts.HeaderAddr, s)
	}
	return s, nil
}

// reader reads a part of the section.
type reader struct {
	dwarf.Reader
	base int // offset of Data in the section
}

// at returns the offset of the next value in the section.
func (c *reader) at() int { return c.base + c.Off }

// reader reads the section from off to end. It is bad if the file cannot be read.
func (s *Section) reader(off, end int) (c reader) {
	s.read(&c, off, end)
	return c
}

// read has c read the section from off to end.
func (s *Section) read(c *reader, off, end int) {
	if s.paged {
		s.readPages(c, off, end)
		return
	}
	c.Data, c.Off, c.Big, c.Bad, c.Overflow, c.base = s.data[:end], off, s.big, false, false, 0
}

func (s *Section) readPages(c *reader, off, end int) {
	b, ok := s.pages.View(off, end)
	c.Reader, c.base = dwarf.Reader{Data: b, Big: s.big, Bad: !ok}, off
}

// Find returns the FDE that covers pc. For the PC of a caller pass the address
// in block, PC-1. If FDEs overlap, Find returns the one that starts last. The error
// wraps [ErrNotFound], [ErrMalformed] or [ErrUnsupported].
func (s *Section) Find(pc uint64) (FDE, error) {
	var f FDE
	if err := s.find(pc, &f); err != nil {
		return FDE{}, err
	}
	return f, nil
}

func (s *Section) find(pc uint64, f *FDE) error {
	if s.header.count > 0 && !s.header.lies.Load() {
		switch s.searchHeader(pc, f) {
		case found:
			return nil
		case missed:
			return ErrNotFound
		case lied:
			s.header.lies.Store(true)
		}
	}
	return s.searchIndex(pc, f)
}

// Row returns the line of the call frame information table that holds for pc, and the FDE that it
// comes from. Errors are as [Section.Find] has them.
//
// RA is the rule of the CIE's return address column. It is Same if the program does not
// mention the column, and Undefined, with the flag Outermost, if the program says so. A table
// may have a separate rule for the PC ([ABI].PC), or an unusual return address column. RA is
// then its rule for PREVIOUS's PC, and Row.Others lists the rule of the usual column. Other
// registers that are not in Row.Others are unchanged (Default is Same). The architecture has
// the rule of the stack pointer.
func (s *Section) Row(pc uint64) (trad.Row, FDE, error) {
	var m machine
	row, err := m.rowAt(s, pc)
	return row, m.fde, err
}

// RowAt is [Section.Row] for callers that need only the range of the FDE's code, [lo, hi). An FDE
// is a large value. The range is empty if no FDE covers pc. steps is the number of instructions
// that RowAt has run.
func (s *Section) RowAt(pc uint64) (row trad.Row, lo, hi uint64, steps int, err error) {
	var m machine
	row, err = m.rowAt(s, pc)
	if m.s != nil {
		steps = maxInstructions - m.left
	}
	return row, m.fde.Start, m.fde.Start + m.fde.Len, steps, err
}

func (m *machine) rowAt(s *Section, pc uint64) (trad.Row, error) {
	err := s.find(pc, &m.fde)
	if err != nil {
		m.fde = FDE{}
		return trad.Row{}, err
	}
	if err = m.start(s); err == nil {
		err = m.seek(pc)
	}
	if err != nil {
		return trad.Row{}, err
	}
	return m.row(pc, nil)
}
