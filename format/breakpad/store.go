package breakpad

import (
	"encoding/binary"
	"fmt"
	"path"
	"strings"
)

// StorePath returns the path of m's symbol file in a store of symbols, with slashes:
// "libc.so.6/8F36…0/libc.so.6.sym"; of a PDB, "ntdll.pdb/…/ntdll.sym". It fails if the name or the
// identifier would lead out of the store.
func (m Module) StorePath() (string, error) {
	for _, part := range []string{m.Name, m.ID} {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\\\x00") {
			return "", fmt.Errorf("module %q, identifier %q: no name of a file", m.Name, m.ID)
		}
	}
	name := m.Name
	if strings.EqualFold(path.Ext(name), ".pdb") {
		name = name[:len(name)-len(".pdb")]
	}
	return path.Join(m.Name, m.ID, name+".sym"), nil
}

// BuildIDIdentifier returns the debug identifier of an ELF file with that build ID: the first 16
// bytes as a GUID of little endian, and an age of 0. A shorter build ID is filled up with zeros.
func BuildIDIdentifier(buildID []byte) string {
	var id [16]byte
	copy(id[:], buildID)
	return fmt.Sprintf("%08X%04X%04X%X0", binary.LittleEndian.Uint32(id[:]), binary.LittleEndian.Uint16(id[4:]),
		binary.LittleEndian.Uint16(id[6:]), id[8:])
}

// TextBytes returns how many bytes [TextIdentifier] takes of a section .text of size bytes: 4096 at
// most, in whole blocks of 16. Bytes behind a shorter section count, too.
func TextBytes(size uint64) uint64 { return (min(size, 4096) + 15) &^ 15 }

// TextIdentifier returns the debug identifier of an ELF file without a build ID: all blocks of 16
// bytes at the beginning of its section .text, added without carry (Breakpad's HashElfTextSection).
func TextIdentifier(text []byte) string {
	var id [16]byte
	for i, c := range text {
		id[i%16] ^= c
	}
	return BuildIDIdentifier(id[:])
}
