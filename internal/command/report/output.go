package report

import (
	"io"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Output collects the text of one stack, and writes it when its turn has come.
type Output struct {
	Out   io.Writer        // takes the text at once; nil while the text must wait for its turn
	turn  func() io.Writer // waits for the turn, and returns the writer for the text
	err   error            // the first of out
	full  [][]byte         // full buffers, before buf
	past  int              // bytes that were in buf before
	buf   []byte
	whole bool // [thread.whole] of the stack
}

// Buffer implements [Printer].
func (o *Output) Buffer() *Output { return o }

// bufferSize is the size of one buffer, bytes. A single buffer that grows with a deep stack
// would be copied again and again.
const bufferSize = 16 << 10

// maxBuffers is the number of full buffers that one stack keeps while it waits for its turn.
const maxBuffers = 32

// MakeRoom begins another buffer when this one is nearly full.
func (o *Output) MakeRoom() {
	switch {
	case len(o.buf) <= bufferSize-bufferSize/8:
	case o.Out != nil:
		o.err = o.FlushTo(o.Out)
	case len(o.full) == maxBuffers:
		o.Out = o.turn()
		o.err = o.FlushTo(o.Out)
	default:
		o.full = append(o.full, o.buf)
		o.past += len(o.buf)
		o.buf = make([]byte, 0, bufferSize)
	}
}

// FlushTo writes all text to out and drops it.
func (o *Output) FlushTo(out io.Writer) error {
	for _, text := range append(o.full, o.buf) {
		if o.err == nil && len(text) > 0 {
			_, o.err = out.Write(text)
		}
	}
	o.past += len(o.buf)
	o.full, o.buf = nil, o.buf[:0]
	return o.err
}

// Size returns how much text was added, bytes.
func (o *Output) Size() int { return o.past + len(o.buf) }

// Write implements [io.Writer].
func (o *Output) Write(b []byte) (int, error) {
	o.buf = append(o.buf, b...)
	return len(b), nil
}

// Byte adds a byte as it is.
func (o *Output) Byte(b byte) { o.buf = append(o.buf, b) }

// Text adds Text that may come from the target, with control characters escaped.
func (o *Output) Text(s string) { o.buf = printable.Append(o.buf, s) }

// bytes is text.
func (o *Output) bytes(b []byte) { o.buf = printable.Append(o.buf, b) }

// Own adds text as it is: it has nothing of the target's in it, or is escaped already.
func (o *Output) Own(s string) { o.buf = append(o.buf, s...) }

// Number adds a decimal number.
func (o *Output) Number(n uint64) { o.buf = strconv.AppendUint(o.buf, n, 10) }

// hex adds a number with at least that many digits: "0x001f".
func (o *Output) hex(v uint64, digits int) {
	const all = "0123456789abcdef"
	o.Text("0x")
	for digits < 16 && v>>(4*digits) != 0 {
		digits++
	}
	for digits--; digits >= 0; digits-- {
		o.Byte(all[v>>(4*digits)&15])
	}
}
