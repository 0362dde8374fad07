package pprofhost

import (
	"fmt"
	"path"
	"regexp"

	profiling "github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/google/pprof/driver"

	"github.com/sfwalk/sfwalk/arch/disassembly"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// code reads the code that was recorded, for pprof's pages with instructions. All addresses are the
// process's.
type code struct {
	pages   *profiling.Pages
	sources *sources
	stacks  *picture.Stacks
}

// maxCode bounds the code that is disassembled at once, bytes.
const maxCode = 1 << 20

// Open implements [driver.ObjTool].
func (c *code) Open(file string, start, limit, _ uint64, _ string) (driver.ObjFile, error) {
	if m := c.pages.Module(file, start); m != nil {
		return object{c, m}, nil
	}
	return nil, fmt.Errorf("%s: it is not at hand", file)
}

// Disasm implements [driver.ObjTool].
func (c *code) Disasm(file string, start, end uint64, intel bool) ([]driver.Inst, error) {
	m := c.pages.Module(file, start)
	if m == nil {
		return nil, fmt.Errorf("%s: it is not at hand", file)
	}
	im, bias, err := m.Image()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if end < start || end-start > maxCode {
		return nil, fmt.Errorf("%s: %d bytes of code at %#x are too many", file, end-start, start)
	}
	text := make([]byte, end-start)
	text = text[:im.ReadLoaded(start-bias, text)]
	decode := disassembly.Of(im.ELF().Machine, intel)
	if decode == nil {
		return nil, fmt.Errorf("%s: there is no disassembler for %v", file, im.ELF().Machine)
	}
	name := func(addr uint64) (string, uint64) {
		chain := c.pages.Locate(m, addr)
		if f := chain[len(chain)-1]; f.Function != "" {
			return f.Function, f.Start
		}
		return "", 0
	}
	var list []driver.Inst
	for at := start; len(text) > 0; {
		shown, n := decode(text, at, name)
		place := c.pages.Locate(m, at)
		inst := driver.Inst{Addr: at, Text: shown, Function: place[len(place)-1].Function, Line: place[0].Line}
		inst.File = c.sources.name(m, nameOf(&place[0]), false)
		list = append(list, inst)
		text, at = text[n:], at+uint64(n)
	}
	return list, nil
}

// object is a module.
type object struct {
	*code
	*target.Module
}

// Name implements [driver.ObjFile].
func (o object) Name() string { return o.Path }

// ObjAddr implements [driver.ObjFile].
func (o object) ObjAddr(addr uint64) (uint64, error) { return addr, nil }

// SourceLine implements [driver.ObjFile].
func (o object) SourceLine(addr uint64) (list []driver.Frame, err error) {
	for _, at := range o.pages.Locate(o.Module, addr) {
		file := o.sources.name(o.Module, nameOf(&at), true)
		list = append(list, driver.Frame{Func: at.Function, File: file, Line: at.Line})
	}
	return list, nil
}

// nameOf returns the name of a source file: a relative one counts from the folder of the compiler.
func nameOf(at *symbol.Location) string {
	if at.Dir == "" {
		return at.File
	}
	return path.Join(at.Dir, at.File)
}

// Symbols implements [driver.ObjFile]. It returns the functions with samples.
func (o object) Symbols(r *regexp.Regexp, addr uint64) (list []*driver.Sym, err error) {
	seen := map[uint64]bool{}
	for i := range o.stacks.Places {
		p := &o.stacks.Places[i]
		if p.Module == nil || p.Module.Path != o.Path || p.Address < o.Lo() || p.Address >= o.Hi() {
			continue
		}
		chain := o.pages.Locate(o.Module, p.Address)
		f := &chain[len(chain)-1]
		if f.Start == 0 || f.End <= f.Start || seen[f.Start] {
			continue
		}
		seen[f.Start] = true
		if r != nil && r.MatchString(f.Function) || addr != 0 && f.Start <= addr && addr < f.End {
			list = append(list, &driver.Sym{Name: []string{f.Function}, File: o.Path, Start: f.Start, End: f.End - 1})
		}
	}
	return list, nil
}

// Close implements [driver.ObjFile]. The recording closes its files.
func (o object) Close() error { return nil }
