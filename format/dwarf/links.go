package dwarf

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path"
)

// Link names a supplementary file, which has the DWARF that several files share. dwz makes one for
// a whole package.
type Link struct {
	Name string
	ID   string // build ID or checksum, hexadecimal: 2 to 64 bytes
}

// maxID is the length in bytes of the longest build ID.
const maxID = 64

// ReadAltLink reads a section .gnu_debugaltlink: a name and a build ID.
func ReadAltLink(data []byte) (l Link, err error) {
	r := New(data, nil)
	l.Name = r.String()
	id := r.Take(r.Left())
	if r.Bad || l.Name == "" || len(id) < 2 || len(id) > maxID {
		return Link{}, fmt.Errorf("section .gnu_debugaltlink: % x: not a file name and a build ID", data[:min(len(data), 64)])
	}
	l.ID = hex.EncodeToString(id)
	return l, nil
}

// ReadSup reads a section .debug_sup (DWARF 5, section 7.3.6). Both files have it: supplementary is
// true in the supplementary file, whose name may be "".
func ReadSup(data []byte, order binary.ByteOrder) (l Link, supplementary bool, err error) {
	r := New(data, order)
	version := r.U16()
	supplementary = r.U8() != 0
	l.Name = r.String()
	id := r.Take(r.ULEB128())
	if r.Bad || version != 5 || l.Name == "" && !supplementary || len(id) < 2 || len(id) > maxID {
		return Link{}, false, fmt.Errorf("section .debug_sup: % x: version %d, not a file name and a checksum", data[:min(len(data), 64)], version)
	}
	l.ID = hex.EncodeToString(id)
	return l, supplementary, nil
}

// ReadDebugLink reads a section .gnu_debuglink: the name of the separate debug file, without a
// folder, and the file's checksum (CRC-32).
func ReadDebugLink(data []byte, order binary.ByteOrder) (name string, crc uint32, err error) {
	r := New(data, order)
	name = r.String()
	r.Take(uint64(-(len(name) + 1) & 3))
	crc = r.U32()
	if r.Bad || name == "" || name != path.Base(name) || name == "/" || name == "." || name == ".." {
		return "", 0, fmt.Errorf("section .gnu_debuglink: % x: not a file name and a checksum", data[:min(len(data), 64)])
	}
	return name, crc, nil
}
