package picture

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// object writes a JSON object part by part, so that what is large as a whole is never in memory at
// once.
type object struct {
	w     *bufio.Writer
	err   error
	begun bool
}

// writeObject writes an object and a line's end. fields writes its fields.
func writeObject(out io.Writer, fields func(o *object)) error {
	o := &object{w: bufio.NewWriter(out)}
	o.value(fields)
	o.w.WriteByte('\n')
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}

// field writes a field: a func(*object) writes the fields of its value, all others are as
// [json.Marshal] has them.
func (o *object) field(name string, value any) {
	o.name(name)
	o.value(value)
}

// list writes a field that is an array of n elements, or of the elements before the first nil.
func (o *object) list(name string, n int, element func(i int) any) {
	o.name(name)
	o.w.WriteByte('[')
	for i := range n {
		e := element(i)
		if e == nil {
			break
		}
		if i > 0 {
			o.w.WriteByte(',')
		}
		o.value(e)
	}
	o.w.WriteByte(']')
}

func (o *object) name(name string) {
	if o.begun {
		o.w.WriteByte(',')
	}
	o.begun = true
	o.value(name)
	o.w.WriteByte(':')
}

func (o *object) value(value any) {
	if fields, ok := value.(func(*object)); ok {
		o.w.WriteByte('{')
		before := o.begun
		o.begun = false
		fields(o)
		o.begun = before
		o.w.WriteByte('}')
		return
	}
	text, err := json.Marshal(value)
	if err != nil && o.err == nil {
		o.err = err
	}
	if !printable.Is(text) { // what json leaves as it is steers a terminal, too
		text = printable.Append(make([]byte, 0, len(text)+16), text)
	}
	o.w.Write(text)
}
