package inturn

import (
	"io"
	"slices"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Output collects the text of one stack, and writes it when its turn has come.
type Output struct {
	Out   io.Writer        // takes the text at once; nil while the text must wait for its turn
	turn  func() io.Writer // waits for the turn, and returns the writer for the text
	err   error            // the first of out
	full  [][]byte         // full buffers, before Buf
	past  int              // bytes that were in Buf before
	Buf   []byte
	Whole bool // for the caller: the stack is whole
}

// Buffer returns o: a type that embeds an Output has it.
func (o *Output) Buffer() *Output { return o }

// Begin begins a stack. turn waits for its turn, and returns the writer for the text.
func (o *Output) Begin(turn func() io.Writer) {
	if o.Buf == nil {
		o.Buf = make([]byte, 0, bufferSize)
	}
	o.Out, o.turn = nil, turn
}

// bufferSize is the size of one buffer, bytes. A single buffer that grows with a deep stack
// would be copied again and again.
const bufferSize = 16 << 10

// maxBuffers is the number of full buffers that one stack keeps while it waits for its turn.
const maxBuffers = 32

// MakeRoom begins another buffer when this one is nearly full.
func (o *Output) MakeRoom() {
	switch {
	case len(o.Buf) <= bufferSize-bufferSize/8:
	case o.Out != nil:
		o.err = o.FlushTo(o.Out)
	case len(o.full) == maxBuffers:
		o.Out = o.turn()
		o.err = o.FlushTo(o.Out)
	default:
		o.full = append(o.full, o.Buf)
		o.past += len(o.Buf)
		o.Buf = make([]byte, 0, bufferSize)
	}
}

// FlushTo writes all text to out and drops it.
func (o *Output) FlushTo(out io.Writer) error {
	for _, text := range append(o.full, o.Buf) {
		if o.err == nil && len(text) > 0 {
			_, o.err = out.Write(text)
		}
	}
	o.past += len(o.Buf)
	o.full, o.Buf = nil, o.Buf[:0]
	return o.err
}

// Size returns how much text was added, bytes.
func (o *Output) Size() int { return o.past + len(o.Buf) }

// MoveBack moves what was added since Size was from to where it was at, if the buffer has both:
// text that was not known earlier. Else it stays.
func (o *Output) MoveBack(from, at int) {
	if at < o.past || from < at || from > o.Size() {
		return
	}
	moved := slices.Clone(o.Buf[from-o.past:])
	copy(o.Buf[at-o.past+len(moved):], o.Buf[at-o.past:from-o.past])
	copy(o.Buf[at-o.past:], moved)
}

// Drop removes what was added since Size was from, if the buffer still has it.
func (o *Output) Drop(from int) {
	if from >= o.past && from <= o.Size() {
		o.Buf = o.Buf[:from-o.past]
	}
}

// Write implements [io.Writer].
func (o *Output) Write(b []byte) (int, error) {
	o.Buf = append(o.Buf, b...)
	return len(b), nil
}

// Byte adds a byte as it is.
func (o *Output) Byte(b byte) { o.Buf = append(o.Buf, b) }

// Text adds text that may come from the target, with control characters escaped.
func (o *Output) Text(s string) { o.Buf = printable.Append(o.Buf, s) }

// Bytes is Text.
func (o *Output) Bytes(b []byte) { o.Buf = printable.Append(o.Buf, b) }

// Own adds text as it is: it has nothing of the target's in it, or is escaped already.
func (o *Output) Own(s string) { o.Buf = append(o.Buf, s...) }

// Number adds a decimal number.
func (o *Output) Number(n uint64) { o.Buf = strconv.AppendUint(o.Buf, n, 10) }

// Hex adds a number with at least that many digits: "0x001f".
func (o *Output) Hex(v uint64, digits int) {
	const all = "0123456789abcdef"
	o.Text("0x")
	for digits < 16 && v>>(4*digits) != 0 {
		digits++
	}
	for digits--; digits >= 0; digits-- {
		o.Byte(all[v>>(4*digits)&15])
	}
}
