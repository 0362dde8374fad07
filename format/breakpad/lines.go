package breakpad

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// MaxLine is the length of the longest line that is read, bytes. A longer one is malformed. The
// longest lines of real files are names of C++ templates.
const MaxLine = 1 << 20

// LineError is the error of one line of a symbol file.
type LineError struct {
	Line int // the line's number, from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

var errLong = fmt.Errorf("longer than %d bytes", MaxLine)

// Records yields the records of a symbol file in their order. A malformed line gives no record but
// a [*LineError], and the next line follows; an error of r is the last. Empty lines are skipped.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		lines := newLineReader(r)
		for lines.next() {
			if len(lines.line) == 0 && !lines.long {
				continue
			}
			record, err := Record(nil), error(errLong)
			if !lines.long {
				record, err = ParseRecord(lines.line)
			}
			if err != nil {
				record, err = nil, &LineError{lines.number, err}
			}
			if !yield(record, err) {
				return
			}
		}
		if lines.err != nil {
			yield(nil, lines.err)
		}
	}
}

// lineReader reads lines one after the other, in memory that they share.
type lineReader struct {
	r      *bufio.Reader
	line   []byte // without its end; until next is called again
	long   bool   // the line is longer than MaxLine; line is nothing
	number int    // of line, from 1
	offset int64  // of line
	after  int64  // where the next line begins
	kept   []byte
	zeros  int // bytes up to here, in whole buffers
	err    error
}

// lineBuffer is the size of the pieces that a file is read in.
const lineBuffer = 16 << 10

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, lineBuffer)}
}

// lineReaders are the readers that look-ups use.
var lineReaders = sync.Pool{New: func() any { return newLineReader(nil) }}

// reset has l read r from its beginning.
func (l *lineReader) reset(r io.Reader) {
	l.r.Reset(r)
	*l = lineReader{r: l.r, kept: l.kept[:0]}
}

// errHole says that a file may be a hole from here on, of any size.
func (l *lineReader) errHole() error {
	return fmt.Errorf("%d KiB of zeros up to offset %#x: %w", l.zeros>>10, l.after, elffile.ErrHole)
}

// next reads a line; false at the end of the file, at a hole, and at an error, which is in err
// then.
func (l *lineReader) next() bool {
	l.number++
	l.offset = l.after
	l.long, l.kept = false, l.kept[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.after += int64(len(part))
		switch {
		case l.long:
		case len(l.kept)+len(part) > MaxLine:
			l.long, l.kept = true, l.kept[:0]
		case err == nil && len(l.kept) == 0:
			l.line = trimEnd(part) // the usual line: it lies in the buffer
			return true
		default:
			l.kept = append(l.kept, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if l.zeros += len(part); bytes.Count(part, []byte{0}) < len(part) {
				l.zeros = 0
			}
			if l.zeros < elffile.HoleSize {
				continue
			}
			err = l.errHole()
		}
		l.line = trimEnd(l.kept)
		if err != nil && !errors.Is(err, io.EOF) {
			l.err = err
			return false
		}
		return err == nil || l.after > l.offset
	}
}

func trimEnd(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }
