package ecma335

import (
	"bytes"
	"compress/flate"
	"io"
)

const (
	pe32     = 0x10b
	pe32plus = 0x20b

	directoryDebug = 6
	directoryCLI   = 14

	debugCodeView = 2
	debugEmbedded = 17
	portable      = 0x504d // the minor version of a CodeView record that names a portable PDB

	mostSections = 96      // what Windows loads
	mostDebug    = 64      // records
	mostPath     = 4 << 10 // bytes
	mostPDB      = 64 << 20
)

// Assembly is an assembly's file (PE), or its image in memory.
type Assembly struct {
	r        io.ReaderAt
	mapped   bool
	sections []section
	cli      section // the header of the metadata
	debug    section
}

// section is a part of the image: [rva, rva+size) is at an offset of the file.
type section struct{ rva, size, at uint32 }

// OpenAssembly opens an assembly. mapped says that each section of it is where it belongs in
// memory, and not where the file has it.
func OpenAssembly(r io.ReaderAt, mapped bool) (*Assembly, error) {
	a := &Assembly{r: r, mapped: mapped}
	m := Metadata{r: r}
	var dos [64]byte
	if !m.read(0, dos[:]) || dos[0] != 'M' || dos[1] != 'Z' {
		return nil, ErrNone
	}
	at := int64(order.Uint32(dos[60:]))
	var head [24]byte
	if !m.read(at, head[:]) || string(head[:4]) != "PE\x00\x00" {
		return nil, ErrNone
	}
	n, size := min(order.Uint16(head[6:]), mostSections), int64(order.Uint16(head[20:]))
	optional := make([]byte, min(size, 112+16*8))
	if !m.read(at+24, optional) || len(optional) < 2 {
		return nil, ErrBad
	}
	directories := 0
	switch order.Uint16(optional) {
	case pe32:
		directories = 96
	case pe32plus:
		directories = 112
	default:
		return nil, ErrBad
	}
	directory := func(i int) section {
		if at := directories + 8*i; at+8 <= len(optional) {
			return section{rva: order.Uint32(optional[at:]), size: order.Uint32(optional[at+4:])}
		}
		return section{}
	}
	a.cli, a.debug = directory(directoryCLI), directory(directoryDebug)
	table := make([]byte, 40*int(n))
	if !m.read(at+24+size, table) {
		return nil, ErrBad
	}
	for ; len(table) > 0; table = table[40:] {
		a.sections = append(a.sections, section{rva: order.Uint32(table[12:]), size: max(order.Uint32(table[8:]), order.Uint32(table[16:])), at: order.Uint32(table[20:])})
	}
	return a, nil
}

// offset returns where an RVA is; negative if it is nowhere.
func (a *Assembly) offset(rva uint32) int64 {
	if a.mapped {
		return int64(rva)
	}
	for _, s := range a.sections {
		if rva-s.rva < s.size {
			return int64(s.at) + int64(rva-s.rva)
		}
	}
	return -1
}

// Metadata opens the assembly's metadata.
func (a *Assembly) Metadata() (*Metadata, error) {
	m := Metadata{r: a.r}
	var cli [16]byte
	if a.cli.rva == 0 || !m.read(a.offset(a.cli.rva), cli[:]) {
		return nil, ErrNone
	}
	at := a.offset(order.Uint32(cli[8:]))
	if at < 0 {
		return nil, ErrNone
	}
	return Open(a.r, at)
}

// Debug is where an assembly's portable PDB is.
type Debug struct {
	ID       [20]byte // what [Metadata.ID] must be
	Path     string   // where it was written; "" if that is not said
	Embedded []byte   // the PDB itself; nil if it is a file of its own
}

// Debug returns where the assembly's portable PDB is; ok is false if it has none.
func (a *Assembly) Debug() (d Debug, ok bool) {
	m := Metadata{r: a.r}
	list := make([]byte, 28*min(a.debug.size/28, mostDebug))
	if a.debug.rva == 0 || !m.read(a.offset(a.debug.rva), list) {
		return d, false
	}
	for ; len(list) > 0; list = list[28:] {
		kind, size, at := order.Uint32(list[12:]), order.Uint32(list[16:]), int64(order.Uint32(list[24:]))
		if a.mapped {
			at = int64(order.Uint32(list[20:]))
		}
		switch {
		case kind == debugCodeView && order.Uint16(list[10:]) == portable:
			b := make([]byte, min(size, mostPath))
			if !m.read(at, b) || len(b) < 24 || string(b[:4]) != "RSDS" {
				continue
			}
			copy(d.ID[:], b[4:20])
			copy(d.ID[16:], list[4:8])
			if end := bytes.IndexByte(b[24:], 0); end >= 0 {
				d.Path = string(b[24 : 24+end])
			}
			ok = true
		case kind == debugEmbedded:
			d.Embedded = a.unpack(at, size)
		}
	}
	return d, ok
}

// unpack returns an embedded PDB; nil if it cannot be read.
func (a *Assembly) unpack(at int64, size uint32) []byte {
	m := Metadata{r: a.r}
	var head [8]byte
	if size < 8 || !m.read(at, head[:]) || string(head[:4]) != "MPDB" {
		return nil
	}
	n := order.Uint32(head[4:])
	if n > mostPDB {
		return nil
	}
	packed := flate.NewReader(io.NewSectionReader(a.r, at+8, int64(size-8)))
	b, err := io.ReadAll(io.LimitReader(packed, int64(n)))
	if err != nil || len(b) < int(n) {
		return nil
	}
	return b
}
