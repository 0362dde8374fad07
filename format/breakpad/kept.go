package breakpad

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// Sum identifies the content of a symbol file: [SumOf] reads all of it.
type Sum [16]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns the Sum of a file: of its size and of the checksums of its blocks.
func sumOf(size int64, blocks []uint32) (s Sum) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(size))
	for _, c := range blocks {
		b = binary.LittleEndian.AppendUint32(b, c)
	}
	whole := sha256.Sum256(b)
	copy(s[:], whole[:])
	return s
}

// SumOf returns the Sum of the file of size bytes that r reads. It takes a tenth of the time of
// [New].
func SumOf(r io.ReaderAt, size int64) (Sum, error) {
	sums := make([]uint32, (size+blockSize-1)/blockSize)
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(sums)))
	for i := range errs {
		wait.Go(func() {
			buf := make([]byte, min(blockSize, size))
			for n := next.Add(1) - 1; n < int64(len(sums)); n = next.Add(1) - 1 {
				part := buf[:min(blockSize, size-n*blockSize)]
				if got, err := elffile.Solid(r).ReadAt(part, n*blockSize); got < len(part) {
					errs[i] = err
					return
				}
				sums[n] = crc32.Checksum(part, castagnoli)
			}
		})
	}
	wait.Wait()
	return sumOf(size, sums), errors.Join(errs...)
}

// Sum returns the Sum of the file's content.
func (f *File) Sum() Sum { return f.tables.Load().sum }

// A kept index is a head, between its length (8 bytes) and its CRC-32C, and the tables in the order
// of [tables.each]. The head has a CRC-32C of each page of the tables, so that a look-up reads and
// checks a few pages alone. All numbers are little endian.
const (
	indexMagic  = "sfwalk symbol index 2\n"
	placeSize   = 32 // address, size, offset, outer, far
	pointSize   = 16 // key, offset
	pageSize    = 16 << 10
	maxHead     = 1 << 24
	checkLength = 4
)

// keptHead is the head of a kept index, in JSON.
type keptHead struct {
	Sum                []byte
	Size               int64
	Module             Module
	Infos              []Info
	Warnings           []keptWarning
	Malformed, Unknown int
	Tables             [7]int   // how many entries each has
	Checks             []uint32 // of the pages
}

type keptWarning struct {
	Line int
	Text string
}

// AppendIndex appends an index of the file to b, by which [NewIndexed] opens the file again.
func (f *File) AppendIndex(b []byte) []byte {
	t := f.tables.Load()
	head := keptHead{Sum: t.sum[:], Size: f.size, Module: f.Module, Infos: f.Infos, Malformed: t.malformed, Unknown: t.unknown}
	for _, w := range f.Warnings {
		one := keptWarning{Text: w.Error()}
		if line := (*LineError)(nil); errors.As(w, &line) {
			one = keptWarning{line.Line, line.Err.Error()}
		}
		head.Warnings = append(head.Warnings, one)
	}
	size := 0
	ranged, pointed := t.each()
	for i, r := range ranged {
		head.Tables[i] = r.len()
		size += r.len() * placeSize
	}
	for i, l := range pointed {
		head.Tables[len(ranged)+i] = l.len()
		size += l.len() * pointSize
	}
	data := make([]byte, 0, size)
	for _, r := range ranged {
		for i := range r.len() {
			p := r.at(i)
			data = binary.LittleEndian.AppendUint64(data, p.Address)
			data = binary.LittleEndian.AppendUint64(data, p.Size)
			data = binary.LittleEndian.AppendUint64(data, uint64(p.offset))
			data = binary.LittleEndian.AppendUint32(data, p.outer)
			data = binary.LittleEndian.AppendUint32(data, p.far)
		}
	}
	for _, l := range pointed {
		for i := range l.len() {
			p := l.at(i)
			data = binary.LittleEndian.AppendUint64(data, p.key)
			data = binary.LittleEndian.AppendUint64(data, uint64(p.offset))
		}
	}
	for page := range slices.Chunk(data, pageSize) {
		head.Checks = append(head.Checks, crc32.Checksum(page, castagnoli))
	}
	text, _ := json.Marshal(head) // it has nothing that JSON lacks
	b = append(b, indexMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(text)))
	b = append(b, text...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(text, castagnoli))
	return append(b, data...)
}

// Indexed reports whether the file is read by the index that [NewIndexed] was given: it is not if
// that was not the file's.
func (f *File) Indexed() bool { return f.tables.Load().kept != nil }

// each returns the tables in the order of an index.
func (t *tables) each() ([4]*ranges, [3]*points) {
	return [...]*ranges{&t.funcs, &t.cfi, &t.frameData, &t.fpo}, [...]*points{&t.publics, &t.files, &t.origins}
}

func (k *keptTable) place(i int) place {
	b := k.pages.entry(k.begin+int64(i)*placeSize, placeSize)
	le := binary.LittleEndian
	return place{Range{le.Uint64(b), le.Uint64(b[8:])}, keptOffset(b[16:]), le.Uint32(b[24:]), le.Uint32(b[28:])}
}

func (k *keptTable) point(i int) point {
	b := k.pages.entry(k.begin+int64(i)*pointSize, pointSize)
	return point{binary.LittleEndian.Uint64(b), keptOffset(b[8:])}
}

func keptOffset(b []byte) int64 { return int64(min(binary.LittleEndian.Uint64(b), math.MaxInt64)) }

// ErrIndex says that an index cannot be used: it is broken, or another file's.
var ErrIndex = errors.New("not an index of the symbol file")

// NewIndexed opens the symbol file of size bytes that r reads by an index that [File.AppendIndex]
// has made. index has indexSize bytes, and must stay readable. The caller says by sum that the
// index was made of the same content, as far as it knows. Nothing of the index is believed: each
// record that is looked up is compared with the index, and the file is indexed anew when one is not
// as it says. The error wraps [ErrIndex], or is r's.
func NewIndexed(r io.ReaderAt, size int64, index io.ReaderAt, indexSize int64, sum Sum) (*File, error) {
	head, begin, err := readKeptHead(index, indexSize)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(head.Sum, sum[:]) || head.Size != size {
		return nil, fmt.Errorf("%w: it has another sum or size", ErrIndex)
	}
	p := &pages{r: index, begin: begin, size: indexSize - begin, checks: head.Checks, read: make([]atomic.Pointer[[]byte], len(head.Checks))}
	t := &tables{malformed: head.Malformed, unknown: head.Unknown, sum: sum, kept: p}
	at := int64(0)
	take := func(i int, entry int64) keptTable {
		n := int64(head.Tables[i])
		if n < 0 || n > (p.size-at)/entry {
			err = fmt.Errorf("%w: a table of %d entries does not fit", ErrIndex, n)
			return keptTable{}
		}
		at += n * entry
		return keptTable{p, at - n*entry, int(n)}
	}
	ranged, pointed := t.each()
	for i, r := range ranged {
		r.kept = take(i, placeSize)
	}
	for i, l := range pointed {
		l.kept = take(len(ranged)+i, pointSize)
	}
	if err != nil {
		return nil, err
	}
	f := &File{r: r, size: size}
	if err := f.readHead(); err != nil {
		return nil, err
	}
	if f.Module != head.Module {
		return nil, fmt.Errorf("%w: it is of module %s %s", ErrIndex, head.Module.Name, head.Module.ID)
	}
	for _, w := range head.Warnings[:min(len(head.Warnings), maxWarnings)] {
		f.Warnings = append(f.Warnings, &LineError{w.Line, errors.New(w.Text)})
	}
	f.tables.Store(t)
	return f, nil
}

// IndexSum returns the Sum of the file that an index was made of. The error wraps [ErrIndex].
func IndexSum(index io.ReaderAt, size int64) (s Sum, err error) {
	head, _, err := readKeptHead(index, size)
	if err == nil && copy(s[:], head.Sum) < len(s) {
		err = fmt.Errorf("%w: its sum is too short", ErrIndex)
	}
	return s, err
}

// readKeptHead reads the head of an index, and returns where the tables begin.
func readKeptHead(index io.ReaderAt, size int64) (head keptHead, begin int64, err error) {
	broken := func(what string) (keptHead, int64, error) { return keptHead{}, 0, fmt.Errorf("%w: %s", ErrIndex, what) }
	var start [len(indexMagic) + 8]byte
	if n, _ := index.ReadAt(start[:], 0); n < len(start) || string(start[:len(indexMagic)]) != indexMagic {
		return broken("it does not begin as one")
	}
	n := binary.LittleEndian.Uint64(start[len(indexMagic):])
	begin = int64(len(start)) + int64(min(n, maxHead)) + checkLength
	if n > maxHead || begin > size {
		return broken("its head is cut off")
	}
	text := make([]byte, n+checkLength)
	if got, _ := index.ReadAt(text, int64(len(start))); got < len(text) {
		return broken("its head is cut off")
	}
	text, check := text[:n], text[n:]
	if crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(check) {
		return broken("the checksum of its head is wrong")
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return broken(err.Error())
	}
	return head, begin, nil
}

// pages are the tables of a kept index, of which those are read that are asked for.
type pages struct {
	r           io.ReaderAt
	begin, size int64
	checks      []uint32
	read        []atomic.Pointer[[]byte]
	broken      atomic.Bool // a page was not what it should be
}

// noEntry is what a broken page has.
var noEntry [placeSize]byte

// entry returns size bytes at an offset, which no page divides.
func (p *pages) entry(at int64, size int) []byte {
	n := at / pageSize
	if n >= int64(len(p.read)) {
		p.broken.Store(true)
		return noEntry[:size]
	}
	page := p.read[n].Load()
	if page == nil {
		b := make([]byte, min(pageSize, p.size-n*pageSize))
		if got, _ := p.r.ReadAt(b, p.begin+n*pageSize); got < len(b) || crc32.Checksum(b, castagnoli) != p.checks[n] {
			p.broken.Store(true)
			return noEntry[:size]
		}
		page = &b
		p.read[n].Store(page)
	}
	from := at % pageSize
	if from+int64(size) > int64(len(*page)) {
		p.broken.Store(true)
		return noEntry[:size]
	}
	return (*page)[from : from+int64(size)]
}

// keptTable is one table of an index.
type keptTable struct {
	pages *pages
	begin int64
	count int
}

// checked looks something up. If the tables were kept and are not the file's, the file is indexed,
// and it is looked up once more.
func checked[T any](f *File, look func(t *tables) (*T, error)) (*T, error) {
	t := f.tables.Load()
	found, err := look(t)
	if t.kept == nil || err == nil && !t.kept.broken.Load() {
		return found, err
	}
	f.again.Lock()
	if f.tables.Load() == t {
		err = f.index()
	}
	f.again.Unlock()
	if t = f.tables.Load(); t.kept != nil {
		return nil, err // the file cannot be read
	}
	return look(t)
}
