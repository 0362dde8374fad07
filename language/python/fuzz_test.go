package python

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// base is where the bytes of a [image] lie.
const base = 0x10000

// image is memory of some bytes, at base.
type image []byte

func (b image) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < base || addr-base >= uint64(len(b)) {
		return 0, fmt.Errorf("memory at %#x: %w", addr, target.ErrUnmapped)
	}
	n := copy(p, b[addr-base:])
	if n < len(p) {
		return n, fmt.Errorf("memory at %#x: %w", addr+uint64(n), target.ErrUnmapped)
	}
	return n, nil
}

// put writes a word at an address.
func (b image) put(addr, word uint64) { binary.LittleEndian.PutUint64(b[addr-base:], word) }

// newImage returns memory with one interpreter, one thread and two frames of a release, the second
// of which leads to the address back.
func newImage(minor int, back uint64) image {
	l, err := tableOf(minor, "")
	if err != nil {
		panic(err)
	}
	const interp, thread, cframe, frame, entry, outer, code, typ, name, lines, text = base + 0x1000, base + 0x3000, base + 0x3400,
		base + 0x3500, base + 0x3600, base + 0x3700, base + 0x3900, base + 0x3b00, base + 0x3d00, base + 0x3e00, base + 0x3f00
	b := image(make([]byte, 0x4000))
	field := func(addr uint64, f field, word uint64) {
		if l.has(f) && addr+l.at[f]+8 <= base+uint64(len(b)) {
			b.put(addr+l.at[f], word)
		}
	}
	if minor >= 13 { // the process tells its layout
		names, err := layouts.ReadFile(fmt.Sprintf("layouts/offsets-3.%d.txt", minor))
		if err != nil {
			panic(err)
		}
		copy(b, cookie)
		for i, name := range strings.Fields(string(names)) {
			at := base + uint64(len(cookie)+8*i)
			if f, ok := byName[name]; ok && l.has(f) {
				b.put(at, l.at[f])
			} else if name == "version" {
				b.put(at, 3<<24|uint64(minor)<<16)
			}
		}
	}
	field(base, runtimeInterpreters, interp)
	field(interp, interpreterThreads, thread)
	field(thread, threadInterpreter, interp)
	field(thread, threadFrame, frame)
	field(thread, threadFrameObject, frame)
	field(thread, threadCFrame, cframe)
	field(cframe, cframeFrame, frame)
	for _, at := range []struct{ frame, previous uint64 }{{frame, outer}, {outer, back}} {
		field(at.frame, framePrevious, at.previous)
		field(at.frame, frameObjectBack, at.previous)
		field(at.frame, frameExecutable, code)
		field(at.frame, frameObjectCode, code)
	}
	if back == 0 { // where the evaluator's call begins
		if l.has(frameIsEntry) {
			b[outer-base+l.at[frameIsEntry]] = 1
		}
		if minor == 12 {
			field(outer, framePrevious, entry)
			b[entry-base+l.at[frameOwner]] = ownedByInterpreter
		}
	}
	field(code, objectType, typ)
	field(code, codeName, name)
	field(code, codeQualifiedName, name)
	field(code, codeFile, name)
	field(code, codeLines, lines)
	field(typ, typeName, text)
	copy(b[text-base:], "code\x00")
	field(name, unicodeLength, 3)
	field(name, unicodeState, 1<<2|1<<5|1<<6)
	copy(b[name-base+l.at[unicodeASCIISize]:], "abc")
	field(lines, bytesLength, 4)
	copy(b[lines-base+l.at[bytesData]:], "\xf8\x00\x02\x04")
	return b
}

// decode reads all threads and frames that memory has.
func decode(minor int, b image) (frames []language.Frame, err error) {
	a := amd64.Arch
	l, err := told(a, b, base, newest)
	if l == nil && err == nil {
		l, err = tableOf(minor, "")
	}
	if err != nil {
		return nil, err
	}
	r := &interpreter{arch: a, runtime: base, layout: l, module: target.NewModule("python", nil, nil)}
	if err := r.check(); err != nil {
		return nil, err
	}
	m := r.memory(b)
	var first error
	err = r.eachThread(m, func(t *threadState) bool {
		c := chain{r: r, m: m, stack: &language.Stack{Arch: a, Memory: b}}
		if err := c.read(t); err != nil && first == nil {
			first = err
		}
		for _, g := range c.groups {
			frames = append(frames, g.Frames...)
		}
		return true
	})
	if err == nil {
		err = first
	}
	return frames, err
}

// TestImage has two frames of each release decoded, and a chain that goes round.
func TestImage(t *testing.T) {
	for minor := 8; minor <= newest; minor++ {
		frames, err := decode(minor, newImage(minor, 0))
		if err != nil || len(frames) != 2 || frames[1].Function != "abc" || frames[1].File != "abc" {
			t.Errorf("3.%d: %+v, %v", minor, frames, err)
		}
		if _, err := decode(minor, newImage(minor, base+0x3500)); err == nil {
			t.Errorf("3.%d: a chain that goes round is taken for a stack", minor)
		}
	}
}

func FuzzFrames(f *testing.F) {
	for minor := 8; minor <= newest; minor++ {
		f.Add(uint8(minor), []byte(newImage(minor, 0)))
		f.Add(uint8(minor), []byte(newImage(minor, base+0x3500)))
	}
	f.Fuzz(func(t *testing.T, minor uint8, b []byte) {
		bounds.Hold(t, len(b), func() { decode(8+int(minor)%8, b) })
	})
}

// FuzzLines reads tables of lines of all formats.
func FuzzLines(f *testing.F) {
	f.Add(uint8(8), int64(4), []byte("\x02\x01\x04\xff\x08\x02"))
	f.Add(uint8(10), int64(4), []byte("\x02\x01\x04\x80\x08\x02"))
	f.Add(uint8(13), int64(4), []byte("\xf0\x02\x80\x01\x02\xd8\x04\x05\x93\x02\x03"))
	f.Fuzz(func(t *testing.T, minor uint8, offset int64, b []byte) {
		bounds.Hold(t, len(b), func() {
			rest := b
			line := lineOf(8+int(minor)%8, func() (c byte, ok bool) {
				if len(rest) == 0 {
					return 0, false
				}
				c, rest = rest[0], rest[1:]
				return c, true
			}, 1, offset)
			if line < 0 {
				t.Errorf("line %d", line)
			}
		})
	})
}
