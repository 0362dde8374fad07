package breakpad

import (
	"bytes"
	"fmt"
	"math"
)

// ParseRecord reads one line, without its end. It takes what Breakpad's own reader takes: several
// spaces between fields, INLINE and INLINE_ORIGIN of the older form too. A line of no known type is
// an [Unknown]. The error of a line of a known type names the field.
func ParseRecord(line []byte) (Record, error) {
	f := fields{rest: bytes.TrimRight(line, "\r\n")}
	switch kindOf(f.rest) {
	case kindLine:
		return f.line()
	case kindFunc:
		f.skip("FUNC")
		return f.function()
	case kindPublic:
		f.skip("PUBLIC")
		return f.public()
	case kindInline:
		f.skip("INLINE")
		return f.inline()
	case kindOrigin:
		f.skip("INLINE_ORIGIN")
		return f.origin()
	case kindFile:
		f.skip("FILE")
		file := SourceFile{Number: f.decimal("number"), Name: f.last()}
		return file, f.err
	case kindCFIInit:
		f.skip("STACK CFI INIT")
		cfi := StackCFIInit{Address: f.hex("address"), Size: f.hex("size"), Rules: f.last()}
		return cfi, f.err
	case kindCFI:
		f.skip("STACK CFI")
		cfi := StackCFI{Address: f.hex("address"), Rules: f.last()}
		return cfi, f.err
	case kindWin:
		f.skip("STACK WIN")
		return f.win()
	case kindModule:
		f.skip("MODULE")
		module := Module{OS: f.text("operating system"), Arch: f.text("architecture"), ID: f.text("identifier"), Name: f.last()}
		return module, f.err
	case kindInfo:
		return Info{Text: string(f.rest[len("INFO "):])}, nil
	}
	return Unknown{Text: string(f.rest)}, nil
}

// kind is the type of a record.
type kind uint8

const (
	kindUnknown kind = iota
	kindLine
	kindFunc
	kindPublic
	kindInline
	kindOrigin
	kindFile
	kindCFIInit
	kindCFI
	kindWin
	kindModule
	kindInfo
)

// words are the beginnings of the records' lines but of Line's. One that begins with another comes
// first.
var words = []struct {
	text string
	kind kind
}{
	{"STACK CFI INIT ", kindCFIInit},
	{"STACK CFI ", kindCFI},
	{"STACK WIN ", kindWin},
	{"FUNC ", kindFunc},
	{"PUBLIC ", kindPublic},
	{"INLINE ", kindInline},
	{"INLINE_ORIGIN ", kindOrigin},
	{"FILE ", kindFile},
	{"MODULE ", kindModule},
	{"INFO ", kindInfo},
}

// kindOf returns the type of the record that line is, or begins with.
func kindOf(line []byte) kind {
	if len(line) == 0 {
		return kindUnknown
	}
	if c := line[0]; c >= '0' && c <= '9' || c >= 'a' && c <= 'f' {
		return kindLine
	}
	for _, w := range words {
		if len(line) >= len(w.text) && string(line[:len(w.text)]) == w.text {
			return w.kind
		}
	}
	for i, c := range line { // "A10 4 3 0": digits are lower case, but Breakpad's reader takes both
		if _, digit := hexDigit(c); !digit {
			if i > 0 && c == ' ' {
				return kindLine
			}
			break
		}
	}
	return kindUnknown
}

// fields takes the fields of a line one after the other. The first error stays.
type fields struct {
	rest []byte
	err  error
}

// skip drops the words that the line begins with.
func (f *fields) skip(words string) { f.rest = f.rest[len(words):] }

// next returns the next field, nothing at the end.
func (f *fields) next() []byte {
	f.rest = bytes.TrimLeft(f.rest, " ")
	end := bytes.IndexByte(f.rest, ' ')
	if end < 0 {
		end = len(f.rest)
	}
	field := f.rest[:end]
	f.rest = f.rest[end:]
	return field
}

// last returns all that is left: a text that may have spaces.
func (f *fields) last() string { return string(bytes.TrimLeft(f.rest, " ")) }

// fail notes that the field name is not as it must be.
func (f *fields) fail(name string, field []byte) {
	if f.err != nil {
		return
	}
	if len(field) == 0 {
		f.err = fmt.Errorf("no %s", name)
		return
	}
	f.err = fmt.Errorf("%s %.32q", name, field)
}

func (f *fields) text(name string) string {
	field := f.next()
	if len(field) == 0 {
		f.fail(name, field)
	}
	return string(field)
}

// hex returns the next field, a hexadecimal number.
func (f *fields) hex(name string) uint64 {
	field := f.next()
	v, ok := parseHex(field)
	if !ok {
		f.fail(name, field)
	}
	return v
}

// decimal returns the next field, a decimal number from 0 to what an int32 holds.
func (f *fields) decimal(name string) int {
	field := f.next()
	v, ok := parseDecimal(field)
	if !ok {
		f.fail(name, field)
	}
	return v
}

// file returns the next field, the number of a file or -1 for none.
func (f *fields) file(name string) int {
	if rest := bytes.TrimLeft(f.rest, " "); bytes.HasPrefix(rest, []byte("-1 ")) {
		f.rest = rest[len("-1"):]
		return -1
	}
	return f.decimal(name)
}

// multiple takes the optional m.
func (f *fields) multiple() bool {
	rest := bytes.TrimLeft(f.rest, " ")
	if !bytes.HasPrefix(rest, []byte("m ")) {
		return false
	}
	f.rest = rest[1:]
	return true
}

func (f *fields) line() (Record, error) {
	l := Line{Address: f.hex("address"), Size: f.hex("size"), Line: f.decimal("line"), File: f.decimal("file number")}
	return l, f.err
}

func (f *fields) function() (Record, error) {
	fn := Func{Multiple: f.multiple(), Address: f.hex("address"), Size: f.hex("size"), ParamSize: f.hex("parameter size"), Name: f.last()}
	return fn, f.err
}

func (f *fields) public() (Record, error) {
	p := Public{Multiple: f.multiple(), Address: f.hex("address"), ParamSize: f.hex("parameter size"), Name: f.last()}
	return p, f.err
}

// origin reads an INLINE_ORIGIN. The older form has a file's number before the name.
func (f *fields) origin() (Record, error) {
	o := InlineOrigin{Number: f.decimal("number"), File: -1}
	after := *f
	number := after.next()
	if _, o.OldForm = parseDecimal(number); o.OldForm || string(number) == "-1" {
		o.OldForm = true
		o.File = f.file("file number")
		if f.last() == "" {
			f.fail("name", nil)
		}
	}
	o.Name = f.last()
	return o, f.err
}

// inline reads an INLINE. The number of its fields tells the forms apart: addresses and sizes are
// pairs.
func (f *fields) inline() (Record, error) {
	i := Inline{CallFile: -1, OldForm: len(bytes.Fields(f.rest))%2 == 1}
	i.Depth = f.decimal("depth")
	i.CallLine = f.decimal("line of the call")
	if !i.OldForm {
		i.CallFile = f.file("file number of the call")
	}
	i.Origin = f.decimal("number of the origin")
	for f.err == nil {
		i.Ranges = append(i.Ranges, Range{f.hex("address"), f.hex("size")})
		if len(bytes.TrimLeft(f.rest, " ")) == 0 {
			break
		}
	}
	return i, f.err
}

func (f *fields) win() (Record, error) {
	w := StackWin{
		Type: int(f.hex("type") & math.MaxInt32), Address: f.hex("address"), CodeSize: f.hex("code size"),
		PrologueSize: f.hex("prologue size"), EpilogueSize: f.hex("epilogue size"), ParamSize: f.hex("parameter size"),
		SavedRegsSize: f.hex("size of saved registers"), LocalSize: f.hex("size of locals"), MaxStackSize: f.hex("stack size"),
		HasProgram: f.hex("flag of a program") != 0,
	}
	if w.HasProgram {
		if w.Program = f.last(); w.Program == "" {
			f.fail("program", nil)
		}
	} else {
		w.AllocatesBasePtr = f.hex("flag of the base pointer") != 0
	}
	return w, f.err
}

// parseHex reads 1 to 16 hexadecimal digits, with or without 0x before them.
func parseHex(b []byte) (v uint64, ok bool) {
	if len(b) > 2 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') {
		b = b[2:]
	}
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d, digit := hexDigit(c)
		if !digit || v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

func hexDigit(c byte) (d byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// parseDecimal reads a decimal number that an int32 holds.
func parseDecimal(b []byte) (v int, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' || v > math.MaxInt32/10 {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, v >= 0 && v <= math.MaxInt32
}
