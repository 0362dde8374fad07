package breakpad

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// File is a symbol file whose records are found by address. Many goroutines may use it at once.
type File struct {
	Module Module
	// Infos are the INFO records before the first function, at most 16.
	Infos []Info
	// Warnings are the first 16 lines that were left out when the file was indexed.
	Warnings []error

	r      io.ReaderAt
	size   int64
	closer io.Closer

	tables atomic.Pointer[tables]
	again  sync.Mutex // held while the file is indexed in place of a kept index
}

// tables say where the records are.
type tables struct {
	funcs, cfi         ranges // in the order of find's search
	frameData, fpo     ranges
	publics            points // by address
	files, origins     points // by number
	malformed, unknown int
	sum                Sum    // of the file's content
	kept               *pages // the tables are from an index, which may not be the file's; nil if they were made of the file

	located   recent[[]Location]
	ruled     recent[*Rules]
	functions recent[*indexedFunc] // by offset, as the next two
	cfis      recent[*indexedCFI]
	records   recent[parsed]
}

// maxWarnings bounds Warnings and Infos.
const maxWarnings = 16

// Open indexes the symbol file at path. Close releases it.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	var f *File
	if err == nil {
		f, err = New(file, info.Size())
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	f.closer = file
	return f, nil
}

// Close closes the file that [Open] has opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// New indexes the symbol file of size bytes that r reads. It reads all of it once, with all
// processors, and keeps r. The error is r's, or says that this is no symbol file, or that there is
// a hole in it: 128 KiB of zeros.
func New(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	if err := f.readHead(); err != nil {
		return nil, err
	}
	if err := f.index(); err != nil {
		return nil, err
	}
	return f, nil
}

// index makes the tables.
func (f *File) index() error {
	blocks := make([]block, (f.size+blockSize-1)/blockSize)
	if err := f.indexAll(blocks); err != nil {
		return err
	}
	f.join(blocks)
	return nil
}

// ErrNoModule is the error of a file that does not begin with a MODULE record.
var ErrNoModule = errors.New("not a Breakpad symbol file: it does not begin with a MODULE record")

// readHead reads the records at the beginning: MODULE and INFO.
func (f *File) readHead() error {
	lines := newLineReader(io.NewSectionReader(f.r, 0, f.size))
	for lines.next() {
		if lines.number == 1 && kindOf(lines.line) != kindModule {
			return ErrNoModule
		}
		record, err := ParseRecord(lines.line)
		switch record := record.(type) {
		case Module:
			if lines.number == 1 {
				f.Module = record
			}
			if err != nil {
				return &LineError{lines.number, err}
			}
		case Info:
			if len(f.Infos) < maxWarnings {
				f.Infos = append(f.Infos, record)
			}
		default:
			return nil
		}
	}
	if lines.err == nil && lines.number == 1 {
		return ErrNoModule
	}
	return lines.err
}

const (
	// blockSize is how much of a file one goroutine indexes at a time.
	blockSize = 1 << 20
	// headLength is as much of a line as the index needs: its words and numbers.
	headLength = 256
)

// block is the index of the lines that begin in one block of the file.
type block struct {
	funcs, cfi, frameData, fpo places
	publics, files, origins    []point
	sum                        uint32      // of all bytes of the block
	bad                        []LineError // at most maxWarnings; numbered from the block's first line
	malformed, unknown, lines  int
}

func (f *File) indexAll(blocks []block) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(blocks)))
	for i := range errs {
		wg.Go(func() {
			buf := make([]byte, min(1+blockSize+headLength, f.size))
			for {
				n := int(next.Add(1)) - 1
				if n >= len(blocks) {
					return
				}
				if err := f.indexBlock(&blocks[n], int64(n)*blockSize, buf); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// indexBlock indexes the lines that begin in the block at start. It reads one byte before, to know
// whether a line begins at start, and some behind, for the beginning of the last line.
func (f *File) indexBlock(b *block, start int64, buf []byte) error {
	from := max(start-1, 0)
	end := min(start+blockSize, f.size)
	n, err := elffile.Solid(f.r).ReadAt(buf[:min(end+headLength, f.size)-from], from)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if from+int64(n) < end {
		return fmt.Errorf("at %d: %w", from+int64(n), io.ErrUnexpectedEOF)
	}
	text := buf[:n]
	b.sum = crc32.Checksum(text[start-from:end-from], castagnoli)
	at := 0
	if start > 0 { // behind the line that began before
		at = bytes.IndexByte(text, '\n') + 1
		if at == 0 {
			return nil
		}
	}
	for from+int64(at) < end {
		head := text[at:]
		length := bytes.IndexByte(head, '\n')
		if length < 0 {
			length = len(head)
		}
		b.add(head[:length], from+int64(at))
		b.lines++
		at += length + 1
	}
	b.compact()
	return nil
}

// compact keeps the first of equal records alone: a compressed file of less than a megabyte may
// have a hundred million of them.
func (b *block) compact() {
	for _, list := range []*places{&b.funcs, &b.cfi, &b.frameData, &b.fpo} {
		*list = slices.Clone(sortPlaces(*list))
	}
	for _, list := range []*[]point{&b.publics, &b.files, &b.origins} {
		*list = slices.Clone(sortPoints(*list))
	}
}

// add notes the line at offset. head is the line, or what of it is in the block.
func (b *block) add(head []byte, offset int64) {
	head = trimEnd(head)
	f := fields{rest: head}
	switch k := kindOf(head); k {
	case kindFunc:
		f.skip("FUNC")
		f.multiple()
		b.funcs.add(&f, 1, offset) // the size of its parameters
	case kindCFIInit:
		f.skip("STACK CFI INIT")
		b.cfi.add(&f, 0, offset)
	case kindWin:
		f.skip("STACK WIN")
		switch f.hex("type") {
		case FrameData:
			b.frameData.add(&f, 7, offset) // six sizes, and the flag of a program
		case FPO:
			b.fpo.add(&f, 7, offset)
		}
	case kindPublic:
		f.skip("PUBLIC")
		f.multiple()
		// Microsoft's tools give 0 as the address of symbols that have none.
		addr := f.hex("address")
		if f.hex("parameter size"); addr != 0 && f.err == nil {
			b.publics = append(b.publics, point{addr, offset})
		}
	case kindFile, kindOrigin:
		f.next()
		if number := f.decimal("number"); f.err == nil {
			list := &b.files
			if k == kindOrigin {
				list = &b.origins
			}
			*list = append(*list, point{uint64(number), offset})
		}
	case kindUnknown:
		if len(head) > 0 {
			b.unknown++
		}
	}
	if f.err != nil {
		b.malformed++
		if len(b.bad) < maxWarnings {
			b.bad = append(b.bad, LineError{b.lines + 1, f.err})
		}
	}
}

// join joins the tables of the blocks to the tables of the file.
func (f *File) join(blocks []block) {
	t := &tables{
		funcs:     joinRanges(blocks, func(b *block) *places { return &b.funcs }),
		cfi:       joinRanges(blocks, func(b *block) *places { return &b.cfi }),
		frameData: joinRanges(blocks, func(b *block) *places { return &b.frameData }),
		fpo:       joinRanges(blocks, func(b *block) *places { return &b.fpo }),
		publics:   joinPoints(blocks, func(b *block) *[]point { return &b.publics }),
		files:     joinPoints(blocks, func(b *block) *[]point { return &b.files }),
		origins:   joinPoints(blocks, func(b *block) *[]point { return &b.origins }),
	}
	lines := 0
	var warnings []error
	sums := make([]uint32, len(blocks))
	for i := range blocks {
		b := &blocks[i]
		sums[i] = b.sum
		t.malformed += b.malformed
		t.unknown += b.unknown
		for _, bad := range b.bad {
			if len(warnings) < maxWarnings {
				warnings = append(warnings, &LineError{lines + bad.Line, bad.Err})
			}
		}
		lines += b.lines
	}
	t.sum = sumOf(f.size, sums)
	if f.tables.Load() == nil { // else others may read the warnings
		f.Warnings = warnings
	}
	f.tables.Store(t)
}
