package logical

import (
	"unsafe"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
)

// Code describes the code at a PC.
type Code struct {
	At    []symbol.Location // the calls inlined there, the innermost first, then the function
	Extra any               // for whoever uses the View

	// How calls that return to the PC came to functions, by the functions' entries. Most come to
	// one.
	calls     map[uint64]*symbol.TailCalls
	lastInner uint64
	lastCalls *symbol.TailCalls
}

// maxInner bounds Code.calls.
const maxInner = 64

// entry returns the address at which the function is entered, 0 if that is not known.
func (c *Code) entry() uint64 {
	at := &c.At[len(c.At)-1]
	if at.Entry != 0 {
		return at.Entry
	}
	return at.Start
}

// codeKey is the PC of a frame and its address in block. Two frames can share the address but not
// the PC: one that was interrupted at that address, and one whose call ends with that byte.
type codeKey struct{ pc, block uint64 }

// Bounds on View.codes: its entries, and the bytes that these take with their text.
const (
	maxCodes    = 1 << 14
	maxCodeSize = 16 << 20
)

// Code describes the code of a physical frame: the calls that are inlined at PC, and the function.
// Call it to keep something of one's own with the code ([Code].Extra).
func (v *View) Code(f *frame.Frame) *Code { return v.at(codeKey{f.PC(), block(f)}) }

func (v *View) at(key codeKey) *Code {
	if v.last.code != nil && v.last.key == key {
		return v.last.code
	}
	c := v.codes[key]
	if c == nil {
		c = &Code{At: []symbol.Location{{Module: v.modules.Find(key.block)}}}
		if v.symbols != nil {
			c.At = v.symbols.Locate(v.modules, key.block)
		}
		size := 0
		for i := range c.At {
			size += len(c.At[i].Function) + len(c.At[i].File) + len(c.At[i].Dir)
			if m := c.At[i].Module; m != nil {
				size += len(m.Path)
			}
		}
		size = 2*size + 2*len(c.At)*int(unsafe.Sizeof(c.At[0])) // once as names, once as printed
		if v.size += size; len(v.codes) == maxCodes || v.size > maxCodeSize {
			clear(v.codes)
			v.size = size
		}
		v.codes[key] = c
	}
	v.last.key, v.last.code = key, c
	return c
}
