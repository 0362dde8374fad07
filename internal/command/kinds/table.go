package kinds

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/lz4file"
	"github.com/sfwalk/sfwalk/internal/xzfile"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Kinds that several rows have, or that have no magic.
var (
	core     = Kind{Name: "a core file", Verb: "core"}
	saved    = Kind{Name: "a snapshot of sfwalk", Verb: "open"}
	dump     = Kind{Name: "a minidump", Verb: "minidump"}
	microlog = Kind{Name: "a log with microdumps", Verb: "minidump"}
	dumps    = Kind{Name: "a folder of minidumps", Verb: "minidump"}
	perf     = Kind{Name: "a file of perf record", Verb: "perf"}
	socket   = Kind{Name: "a socket", Verb: "remote"}
	program  = Kind{Name: "a program", Use: "'sfwalk record -- FILE' starts it and says where it spends its time," +
		" 'sfwalk dlv exec FILE' debugs it, and 'sfwalk core --exe FILE CORE' reads what a crash of it has left"}
	library = Kind{Name: "a library", Use: "'sfwalk sframe dump FILE' and 'sfwalk symbols dump FILE' read its tables"}
	object  = Kind{Name: "an object file", Use: "'sfwalk sframe dump FILE' reads its SFrame section"}
	windows = Kind{Name: "a program or library of Windows", Use: "'sfwalk minidump DUMP' reads it beside a crash report of its"}
	symbols = Kind{Name: "a symbol file of Breakpad", Use: "'sfwalk minidump DUMP --symbols DIR' reads it in a folder NAME/IDENTIFIER"}
	jit     = Kind{Name: "a jitdump", Use: "it is read unasked as long as its process runs"}
	svg     = Kind{Name: "a picture", Use: "a browser shows it"}
	pprof   = Kind{Name: "a profile", Use: "'go tool pprof -http=: FILE' shows it"}
	gzipped = Kind{Name: "a file that gzip has compressed", Use: "unpack it first: gzip -d"}
	unknown = Kind{Name: "a compressed file", Use: "unpack it first"}
)

// magics are how files begin. The first row that fits has the file.
var magics = []struct {
	magic []byte
	Kind
	look func(head []byte, r io.ReaderAt) (Kind, bool) // looks further; nil if the magic tells all
}{
	{magic: []byte("\x7fELF"), look: elf},
	{magic: []byte("MDMP"), Kind: dump},
	{magic: []byte("PMDM"), Kind: dump}, // of a processor that is big-endian
	{magic: []byte("PERFILE2"), Kind: perf},
	{magic: []byte("2ELIFREP"), Kind: perf},
	{magic: []byte("JiTD"), Kind: jit},
	{magic: []byte("DTiJ"), Kind: jit},
	{magic: []byte("MODULE "), Kind: symbols},
	{magic: []byte("<svg"), Kind: svg},
	{magic: []byte("<?xml"), look: func(head []byte, _ io.ReaderAt) (Kind, bool) { return svg, bytes.Contains(head, []byte("<svg")) }},
	{magic: []byte("MZ"), look: pe},
}

// packers are how compressed files begin.
var packers = []struct {
	magic []byte
	look  func(r io.ReaderAt, size int64) (Kind, bool)
}{
	{[]byte{0x28, 0xb5, 0x2f, 0xfd}, func(r io.ReaderAt, size int64) (Kind, bool) {
		d, err := zstd.NewReader(begin(r, size), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return unknown, true
		}
		defer d.Close()
		return packed(d, "zstd -d")
	}},
	{[]byte{0xfd, '7', 'z', 'X', 'Z', 0}, func(r io.ReaderAt, size int64) (Kind, bool) {
		x, err := xzfile.Open(r, size)
		if err != nil {
			return unknown, true
		}
		return packed(x.Reader(), "xz -d")
	}},
	{[]byte{0x1f, 0x8b}, func(r io.ReaderAt, size int64) (Kind, bool) {
		d, err := gzip.NewReader(begin(r, size))
		if err != nil {
			return gzipped, true
		}
		head := readHead(d)
		// profile.proto: the first field is sample_type, a message.
		if k, ok := inside(head); ok {
			return Kind{Name: k.Name + ", which gzip has compressed", Use: gzipped.Use}, true
		} else if len(head) > 0 && head[0] == 1<<3|2 {
			return pprof, true
		}
		return gzipped, true
	}},
	{[]byte(lz4file.Magic), func(r io.ReaderAt, size int64) (Kind, bool) {
		d, err := lz4file.NewReader(begin(r, size))
		if err != nil {
			return unknown, true
		}
		return packed(d, "lz4 -d")
	}},
}

// maxPacked is how much of a compressed file is read: what can be skipped in one may be long, and a
// hole. A block of lz4's has 4 MiB, of older releases 8.
const maxPacked = 16 << 20

// begin returns the beginning of a compressed file.
func begin(r io.ReaderAt, size int64) io.Reader {
	return io.NewSectionReader(r, 0, min(size, maxPacked))
}

// packed returns what a compressed file is. The verbs for core files unpack it by themselves, and
// command unpacks it for the others. What cannot be unpacked here is taken for a core file, whose
// verb says what is wrong, or has more memory for it.
func packed(r io.Reader, command string) (Kind, bool) {
	head := readHead(r)
	switch k, ok := inside(head); {
	case len(head) == 0:
		return core, true
	case ok && (k == core || k == saved):
		return k, true
	case ok:
		return Kind{Name: k.Name + ", which is compressed", Use: "unpack it first: " + command}, true
	}
	return Kind{Name: unknown.Name, Use: unknown.Use + ": " + command}, true
}

// inside returns what the unpacked bytes head begin.
func inside(head []byte) (Kind, bool) {
	return unpacked(head[:min(len(head), 4096)], bytes.NewReader(head), int64(len(head)))
}

// readHead returns what can be unpacked, at most maxHead bytes.
func readHead(r io.Reader) []byte {
	head, _ := io.ReadAll(io.LimitReader(r, maxHead))
	return head
}

// microdumpBegin is in the first line of a microdump, behind what a log puts before.
const microdumpBegin = "-----BEGIN BREAKPAD MICRODUMP-----"

// log returns whether a text has microdumps.
func log(head []byte, r io.ReaderAt, size int64) (k Kind, ok bool) {
	if bytes.IndexByte(head, 0) >= 0 || len(head) == 0 {
		return k, false
	}
	text := readHead(io.NewSectionReader(r, 0, min(size, maxHead)))
	return microlog, bytes.Contains(text, []byte(microdumpBegin))
}

// pe returns whether a file that begins as DOS's programs is one of Windows (PE/COFF, "MS-DOS
// Stub": the offset of its signature is at 0x3c).
func pe(head []byte, r io.ReaderAt) (k Kind, ok bool) {
	if len(head) < 0x40 {
		return k, false
	}
	var signature [4]byte
	_, err := r.ReadAt(signature[:], int64(binary.LittleEndian.Uint32(head[0x3c:])))
	return windows, err == nil && string(signature[:]) == "PE\x00\x00"
}

// Places of fields in ELF headers (System V ABI, "ELF Header" and "Program Header"), of 32 and of
// 64 bits.
const (
	elfType        = 16
	typeRelocated  = 1          // ET_REL
	typeProgram    = 2          // ET_EXEC
	typeShared     = 3          // ET_DYN
	typeCore       = 4          // ET_CORE
	segmentDynamic = 2          // PT_DYNAMIC
	dynamicFlags1  = 0x6ffffffb // DT_FLAGS_1
	flagPIE        = 0x08000000 // DF_1_PIE
	maxDynamic     = 1 << 10
	segmentInterp  = 3  // PT_INTERP
	segmentNote    = 4  // PT_NOTE
	maxSkippedNote = 64 // notes before a snapshot's own, which comes early
)

// elf returns what an ELF file is.
func elf(head []byte, r io.ReaderAt) (k Kind, ok bool) {
	if len(head) < 64 {
		return k, false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[5] == 2 { // ELFDATA2MSB
		order = binary.BigEndian
	}
	f := elfFile{r, order, head[4] == 2, head}
	switch order.Uint16(head[elfType:]) {
	case typeRelocated:
		return object, true
	case typeProgram:
		return program, true
	case typeShared:
		if f.has(segmentInterp) || f.isStaticPIE() {
			return program, true // one that is linked to be placed anywhere
		}
		return library, true
	case typeCore:
		if f.isSnapshot() {
			return saved, true
		}
		return core, true
	}
	return k, false
}

// elfFile is an ELF file, nothing of which is certain.
type elfFile struct {
	r     io.ReaderAt
	order binary.ByteOrder
	wide  bool // 64 bits
	head  []byte
}

// segments calls yield with the type, offset and size of each segment until that returns false.
func (f *elfFile) segments(yield func(typ uint32, offset, size uint64) bool) {
	at, entry, count, least := uint64(f.order.Uint32(f.head[28:])), f.order.Uint16(f.head[42:]), f.order.Uint16(f.head[44:]), uint16(32)
	if f.wide {
		at, entry, count, least = f.order.Uint64(f.head[32:]), f.order.Uint16(f.head[54:]), f.order.Uint16(f.head[56:]), 56
	}
	if entry < least {
		return
	}
	b := make([]byte, least)
	for i := range uint64(count) {
		if _, err := f.r.ReadAt(b, int64(at+i*uint64(entry))); err != nil {
			return
		}
		offset, size := uint64(f.order.Uint32(b[4:])), uint64(f.order.Uint32(b[16:]))
		if f.wide {
			offset, size = f.order.Uint64(b[8:]), f.order.Uint64(b[32:])
		}
		if !yield(f.order.Uint32(b), offset, size) {
			return
		}
	}
}

// has reports whether there is a segment of a type.
func (f *elfFile) has(typ uint32) (has bool) {
	f.segments(func(t uint32, _, _ uint64) bool {
		has = t == typ
		return !has
	})
	return has
}

// isStaticPIE reports whether a file says that it is a program (DF_1_PIE), as those say that have
// no dynamic linker.
func (f *elfFile) isStaticPIE() (is bool) {
	f.segments(func(typ uint32, offset, size uint64) bool {
		if typ != segmentDynamic {
			return true
		}
		entry := uint64(8)
		if f.wide {
			entry = 16
		}
		b := make([]byte, entry*min(size/entry, maxDynamic))
		n, _ := f.r.ReadAt(b, int64(offset))
		for b = b[:n]; uint64(len(b)) >= entry; b = b[entry:] {
			tag, value := uint64(f.order.Uint32(b)), uint64(f.order.Uint32(b[4:]))
			if f.wide {
				tag, value = f.order.Uint64(b), f.order.Uint64(b[8:])
			}
			if tag == dynamicFlags1 {
				is = value&flagPIE != 0
			}
		}
		return false
	})
	return is
}

// isSnapshot reports whether a core file has the note of a snapshot.
func (f *elfFile) isSnapshot() (is bool) {
	f.segments(func(typ uint32, offset, size uint64) bool {
		if typ != segmentNote {
			return true
		}
		b := make([]byte, elfnote.HeaderSize+len(snapshot.NoteOwner)+1)
		end := offset + size
		for range maxSkippedNote {
			if offset >= end {
				break
			}
			if _, err := f.r.ReadAt(b, int64(offset)); err != nil {
				return false
			}
			name, desc := uint64(f.order.Uint32(b)), uint64(f.order.Uint32(b[4:]))
			if f.order.Uint32(b[8:]) == snapshot.NoteType && strings.HasPrefix(string(b[elfnote.HeaderSize:]), snapshot.NoteOwner+"\x00") {
				is = true
				return false
			}
			offset += elfnote.HeaderSize + (name+3)&^3 + (desc+3)&^3
		}
		return false
	})
	return is
}
