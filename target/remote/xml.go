package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// description is the contents of target.xml: the architecture, and the registers in the order of
// their numbers.
type description struct {
	arch string // BFD's name: "i386:x86-64"
	regs []register
}

// register is a register as the stub describes it.
type register struct {
	name string
	num  int // the number by which p asks for it
	bits int
	// part says that the register is a part of others: eax of rax. A write of it would clear what
	// it is no part of.
	part bool
	off  int // where g's answer has the register, bytes; -1 if the stub does not tell: behind the one before it
	// system says that the register is not a thread's, or that a debugger shall not put it back.
	system bool
}

// Bounds on a description.
const (
	maxDescription = 1 << 20 // bytes of all its parts
	maxIncludes    = 64
	maxDepth       = 8 // depth of includes
	maxRegisters   = 4096
	maxRegBits     = 1 << 20 // arm64's ZA has up to 1 << 19
)

// readDescription reads target.xml and the files that it includes. fetch returns the text of an
// annex.
func readDescription(fetch func(annex string) ([]byte, error)) (*description, error) {
	r := &describer{fetch: fetch, d: &description{}}
	if err := r.read("target.xml", 0); err != nil {
		return nil, err
	}
	return r.d, nil
}

type describer struct {
	fetch    func(string) ([]byte, error)
	d        *description
	next     int  // the number of the next register that has no regnum
	system   bool // the feature that is read is none of gdb's
	size     int
	includes int
}

func (r *describer) read(annex string, depth int) error {
	if r.includes++; depth > maxDepth || r.includes > maxIncludes {
		return fmt.Errorf("target description: %s: too many parts, one within another", annex)
	}
	text, err := r.fetch(annex)
	if err != nil {
		return fmt.Errorf("target description: %s: %w", annex, err)
	}
	if r.size += len(text); r.size > maxDescription {
		return fmt.Errorf("target description: more than %d bytes", maxDescription)
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	inArch := false
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("target description: %s: %w", annex, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "architecture":
				inArch = true
			case "feature":
				name := attr(t, "name") // lldb-server has one, without a name
				r.system = name != "" && !strings.HasPrefix(name, "org.gnu.gdb.")
			case "include":
				err = r.read(attr(t, "href"), depth+1)
			case "reg":
				err = r.register(t)
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			inArch = false
		case xml.CharData:
			if inArch && r.d.arch == "" {
				r.d.arch = string(bytes.TrimSpace(t))
			}
		}
	}
}

func (r *describer) register(t xml.StartElement) error {
	reg := register{
		name: attr(t, "name"), num: r.next, off: -1,
		part: attr(t, "value_regnums") != "", system: r.system || attr(t, "save-restore") == "no",
	}
	var err error
	if text := attr(t, "regnum"); text != "" {
		if reg.num, err = strconv.Atoi(text); err != nil || reg.num < 0 || reg.num > 1<<20 {
			return fmt.Errorf("target description: register %q has number %q", reg.name, text)
		}
	}
	if reg.bits, err = strconv.Atoi(attr(t, "bitsize")); err != nil || reg.bits <= 0 || reg.bits > maxRegBits {
		return fmt.Errorf("target description: register %q has %q bits", reg.name, attr(t, "bitsize"))
	}
	if text := attr(t, "offset"); text != "" {
		if reg.off, err = strconv.Atoi(text); err != nil || reg.off < 0 || reg.off > 1<<20 {
			return fmt.Errorf("target description: register %q is at offset %q", reg.name, text)
		}
	}
	if len(r.d.regs) == maxRegisters {
		return fmt.Errorf("target description: more than %d registers", maxRegisters)
	}
	r.d.regs = append(r.d.regs, reg)
	r.next = reg.num + 1
	return nil
}

func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// element is a leaf of the stub's other lists: its attributes.
type element map[string]string

// elements returns the attributes of all elements of a name. If the list is cut short or malformed,
// elements returns the elements before the fault, and an error.
func elements(text []byte, name string, limit int) (list []element, err error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.Map(allowed, text)))
	d.Strict = false
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		t, ok := token.(xml.StartElement)
		if !ok || t.Name.Local != name {
			continue
		}
		if len(list) == limit {
			return list, fmt.Errorf("more than %d", limit)
		}
		e := element{}
		for _, a := range t.Attr {
			e[a.Name.Local] = a.Value
		}
		list = append(list, e)
	}
}

// allowed replaces characters that XML does not allow. gdbserver writes the names of threads and
// files as they are, and a strange name must not hide a thread.
func allowed(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
		return unicode.ReplacementChar
	}
	return r
}
