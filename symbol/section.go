package symbol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elffile"
)

// section is a section of debug information. It reads only the parts that are asked for. It
// inflates a compressed section up to the end of those parts. A nil section is empty.
type section struct {
	name string
	size uint64
	file *elf.Contents // nil for a part of another section

	whole *section // the section that this is a part of; nil where this is a section of the file
	from  uint64   // offset of the part in whole

	mu     sync.Mutex
	kept   InflatedSection // a compressed section's bytes, by the cache; nil if it has them not
	asked  bool            // the cache was asked
	packed io.Reader       // inflates a compressed section; nil until that is first read
	chunks [][]byte        // the inflated bytes, in pieces of chunkSize
	have   uint64          // bytes that were inflated
	err    error           // why no more can be inflated
	said   bool            // a warning has said that there was too little room

	// A large section passes by: it keeps only its last two chunks, and squeezes those before
	// them. If there is no room for them, it is inflated from the beginning again. Once reading
	// them again has cost as much as inflating the whole section would, it keeps all chunks,
	// unless it is larger than wholeSize.
	passing    bool
	squeezed   squeezed
	again      uint64 // bytes that were inflated and dropped, or that cost as much to be read
	room       *room  // memory for what is kept; see debugInfo
	taken      bool   // room was taken for the whole section
	refused    bool   // there was no such room
	held, paid int    // number of chunks that exist; number of chunks that room was taken for
	spare      []byte // a chunk that has passed

	// For a section that is not compressed, or whose inflated bytes were kept:
	ahead  uint64 // least number of bytes to read at once, as the next ones may be asked for soon
	window []byte // the bytes that were read last
	at     uint64 // offset of window
	lent   bool   // others may still read the window
}

const (
	chunkSize = 128 << 10
	largeSize = 2 << 20
	wholeSize = 32 << 20
	decoder   = 64 << 10 // bytes of memory that a decoder takes up
)

// maxPart bounds the bytes that are read at once. The largest units have some dozen
// megabytes.
const maxPart = 1 << 30

// openSection finds the section .debug_NAME; nil if there is none. If it is not
// compressed, at least ahead bytes are read at a time.
func openSection(im *elf.Image, name string, ahead uint64) (*section, error) {
	c, err := im.Contents(".debug_"+name, ".zdebug_"+name) // older tools' compressed ones
	if errors.Is(err, elf.ErrNoSection) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &section{name: ".debug_" + name, size: c.Size, file: c, ahead: ahead, passing: c.Size > largeSize}, nil
}

func (s *section) len() uint64 {
	if s == nil {
		return 0
	}
	return s.size
}

// far reports whether a step back costs inflating the section again.
func (s *section) far() bool {
	if s == nil || s.whole != nil {
		return s != nil && s.whole.far()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passing && s.squeezed.full
}

// compressed reports whether the section is compressed.
func (s *section) compressed() bool {
	for s != nil && s.whole != nil {
		s = s.whole
	}
	if s == nil || s.file.Plain != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openKept() == nil
}

// part returns the n bytes at from as a section of their own; nil if the section does not have
// them.
func (s *section) part(from, n uint64) *section {
	if size := s.len(); from > size || n > size-from {
		return nil
	}
	return &section{name: s.name, size: n, whole: s, from: from}
}

// bytes returns the part [lo, hi) of the section. It must not be changed.
func (s *section) bytes(lo, hi uint64) ([]byte, error) {
	if lo > hi || hi > s.len() {
		return nil, fmt.Errorf("bytes %#x to %#x lie beyond the section (%#x bytes)", lo, hi, s.len())
	}
	if s != nil && s.whole != nil {
		return s.whole.bytes(s.from+lo, s.from+hi)
	}
	if lo == hi {
		return nil, nil
	}
	if hi-lo > maxPart {
		return nil, fmt.Errorf("bytes %#x to %#x of %s are too many", lo, hi, s.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file.Plain != nil {
		return s.plain(s.file.Plain, lo, hi)
	}
	if kept := s.openKept(); kept != nil {
		if part, err := s.plain(kept, lo, hi); err == nil {
			return part, nil
		}
		s.kept, s.window = nil, nil // it is damaged
	}
	if !s.passing && (hi-1)/chunkSize == lo/chunkSize {
		return s.chunkPart(lo, hi)
	}
	var part []byte
	for n := hi - lo; lo < hi; {
		b, err := s.chunkPart(lo, hi)
		if err != nil {
			return nil, err
		}
		if part == nil {
			part = make([]byte, 0, n) // no more than what a compressed section may expand to
		}
		part, lo = append(part, b...), lo+uint64(len(b))
	}
	return part, nil
}

// chunkPart returns the first of the bytes [lo, hi): as many as lie in one chunk, or in one
// squeezed piece. If the section is passing, the next call may change them. The caller holds s.mu.
func (s *section) chunkPart(lo, hi uint64) ([]byte, error) {
	i := lo / chunkSize
	passed := i < uint64(len(s.chunks)) && s.chunks[i] == nil
	if s.squeezed.has(lo) && (passed || i >= uint64(len(s.chunks))) {
		if !s.refused {
			s.again += pieceSize / stretchShare
		}
		if s.again < s.size || !s.fits() {
			b, err := s.squeezed.from(s.room, lo)
			if err != nil {
				return nil, fmt.Errorf("inflate %s at %#x: %w", s.name, lo, err)
			}
			return b[:min(uint64(len(b)), hi-lo)], nil
		}
		passed = true
	}
	if passed {
		s.restart()
	}
	hi = min(hi, (i+1)*chunkSize)
	if err := s.inflate(hi); err != nil {
		return nil, err
	}
	return s.chunks[i][lo%chunkSize : (hi-1)%chunkSize+1], nil
}

// bytesInto is bytes for a moment: they may lie in room, if that is large enough.
func (s *section) bytesInto(room []byte, lo, hi uint64) ([]byte, error) {
	if s == nil || lo >= hi || hi > s.len() || hi-lo > uint64(len(room)) {
		return s.bytes(lo, hi)
	}
	if s.whole != nil {
		return s.whole.bytesInto(room, s.from+lo, s.from+hi)
	}
	if s.file.Plain == nil {
		return s.bytes(lo, hi)
	}
	room = room[:hi-lo]
	if s.ahead == 0 {
		return room, s.read(room, lo)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lo < s.at || hi > s.at+uint64(len(s.window)) {
		n := max(hi-lo, min(s.ahead, s.size-lo))
		if s.lent || uint64(cap(s.window)) < n {
			s.window, s.lent = make([]byte, n), false
		}
		s.window, s.at = s.window[:n], lo
		if err := s.read(s.window, lo); err != nil {
			s.window = nil
			return nil, err
		}
	}
	copy(room, s.window[lo-s.at:])
	return room, nil
}

// read fills room with the bytes at an offset of a section that is not compressed.
func (s *section) read(room []byte, at uint64) error {
	n, err := s.file.Plain.ReadAt(room, int64(at))
	if n == len(room) {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %s at %#x: %w", s.name, at, err)
}

// keep makes the section keep everything that it inflates, if there is room. The caller will read
// the whole section.
func (s *section) keep() {
	if s == nil || s.whole != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file.Plain == nil && s.openKept() != nil {
		return
	}
	if s.passing && s.fits() {
		s.again = max(s.again, s.size)
		s.restart()
	}
}

// fits takes room for the whole section, and reports whether there was enough. It tries once.
func (s *section) fits() bool {
	if !s.taken && !s.refused {
		s.taken = s.size <= wholeSize && s.room.fits(int64(s.size))
		s.refused = !s.taken
	}
	return s.taken
}

// A section that is too large to be kept may be inflated maxAgain times.
const maxAgain = 32

// restart begins to inflate the section anew. The caller holds s.mu.
func (s *section) restart() {
	s.again += s.have
	if s.passing = s.again < s.size || !s.fits(); !s.passing {
		s.squeezed.drop(s.room)
	}
	s.packed, s.chunks, s.have, s.spare, s.held, s.err = nil, nil, 0, nil, 0, nil
	if s.again > maxAgain*s.size {
		s.err = fmt.Errorf("inflate %s: %w", s.name, errTooMuch)
	}
}

// plain reads a part of a section from the section's bytes. The caller holds s.mu.
func (s *section) plain(from io.ReaderAt, lo, hi uint64) ([]byte, error) {
	if lo >= s.at && hi <= s.at+uint64(len(s.window)) {
		s.lent = true
		return s.window[lo-s.at : hi-s.at], nil
	}
	part, err := elffile.ReadPart(from, int64(lo), max(hi-lo, min(s.ahead, s.size-lo)))
	if err != nil {
		return nil, fmt.Errorf("read %s at %#x: %w", s.name, lo, err)
	}
	if s.ahead > 0 {
		s.window, s.at, s.lent = part, lo, true
	}
	return part[:hi-lo], nil
}

// inflate inflates the section up to an offset. The caller holds s.mu.
func (s *section) inflate(to uint64) error {
	if s.packed == nil && s.err == nil && s.have < to {
		if s.again == 0 && !s.room.fits(decoder) {
			s.err = fmt.Errorf("inflate %s: %w", s.name, elf.ErrBudget)
		} else {
			s.noteInflated()
			s.packed, s.err = s.file.Unpack()
		}
	}
	for s.have < to && s.err == nil {
		n := len(s.chunks)
		if s.passing && n >= 2 {
			s.squeezed.add(s.room, n-2, s.chunks[n-2])
			s.spare, s.chunks[n-2] = s.chunks[n-2], nil
		}
		chunk := s.spare
		if s.spare = nil; chunk == nil {
			if s.held++; s.held > s.paid && !s.taken {
				if s.paid++; !s.room.fits(min(chunkSize, int64(s.size-s.have))) {
					s.err = fmt.Errorf("inflate %s at %#x: %w", s.name, s.have, elf.ErrBudget)
					break
				}
			}
			chunk = make([]byte, min(chunkSize, s.size-s.have))
		}
		chunk = chunk[:min(chunkSize, s.size-s.have)]
		if !s.room.work(int64(len(chunk))) {
			s.err = fmt.Errorf("inflate %s at %#x: %w", s.name, s.have, elf.ErrBudget)
			break
		}
		if _, err := io.ReadFull(s.packed, chunk); err != nil {
			s.err = fmt.Errorf("inflate %s at %#x: %w", s.name, s.have, err)
			break
		}
		s.chunks = append(s.chunks, chunk)
		s.have += uint64(len(chunk))
	}
	if s.have == s.size && !s.passing {
		s.packed = nil // and its room
	}
	if s.have >= to {
		return nil
	}
	if !s.said && errors.Is(s.err, elf.ErrBudget) { // not all that read it say what they miss
		s.said = true
		s.room.warn(fmt.Errorf("read DWARF: %w", s.err))
	}
	return s.err
}

// prepare inflates the section up to an offset in the background.
func (s *section) prepare(to uint64) {
	if s == nil || s.whole != nil || s.size > largeSize || !s.compressed() {
		return
	}
	go func() {
		for at := uint64(chunkSize); at < to+chunkSize; at += chunkSize {
			s.mu.Lock()
			err := s.inflate(min(at, s.size))
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// all returns the whole section.
func (s *section) all() ([]byte, error) { return s.bytes(0, s.len()) }

// sectionReader reads a section from an offset on.
type sectionReader struct {
	dwarfdata.Reader
	whole bool // Data goes to the section's end
}

// scan calls parse with the bytes that follow an offset of the section. It begins with a few. As
// long as parse reads beyond their end, it calls parse anew with more. The bytes are gone when
// parse returns. It returns the number of bytes that parse has read, or an error if the section
// ends before.
func (s *section) scan(off uint64, order binary.ByteOrder, parse func(*sectionReader)) (n uint64, err error) {
	if off > s.len() {
		return 0, fmt.Errorf("offset %#x lies beyond the section (%#x bytes)", off, s.len())
	}
	buffer := borrow(0)
	defer giveBack(buffer)
	for room := uint64(256); ; room *= 4 {
		hi := min(off+room, s.len())
		data, err := s.bytesInto(buffer, off, hi)
		if err != nil {
			return 0, err
		}
		c := sectionReader{dwarfdata.New(data, order), hi == s.len()}
		parse(&c)
		if !c.Bad {
			return uint64(c.Off), nil
		}
		if c.Overflow {
			return 0, fmt.Errorf("what begins at %#x has a number of more than 64 bits", off)
		}
		if hi == s.len() {
			return 0, fmt.Errorf("what begins at %#x is cut off by the section's end (%#x)", off, hi)
		}
	}
}

// text returns the string at an offset.
func (s *section) text(off uint64) (text string, err error) {
	_, err = s.scan(off, nil, func(c *sectionReader) { text = c.String() })
	return text, err
}
