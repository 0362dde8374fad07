package symbol

import (
	"fmt"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
)

// A function that has no symbol has a name all the same, made of where it begins: most files have a
// table that tells this, for unwinders. The name is the same wherever it is shown, for it depends
// on the module alone.

// A Starter is a [Table] that knows where functions begin, also functions that it has no name for.
type Starter interface {
	// FunctionAt returns the run-time range [lo, hi) of the function, or of its contiguous part,
	// that has code at pc. from says what tells it: ".pdata". ok is false if nothing does.
	FunctionAt(pc uint64) (lo, hi uint64, from string, ok bool)
}

// Named reports whether somebody has given the function its name: it is neither unknown nor made up
// of where the function begins.
func (l *Location) Named() bool { return l.Function != "" && l.NameFrom == "" }

// nameByStart gives the outermost function of a chain a name, if it has none, and a table tells
// where it begins.
func (t *tables) nameByStart(pc uint64, chain []Location) []Location {
	if len(chain) > 0 && chain[len(chain)-1].Function != "" || t.elf.m.Doubted() {
		return chain
	}
	lo, hi, from, ok := t.elf.FunctionAt(pc)
	for i := 0; i < len(t.others) && !ok; i++ {
		if table, is := t.others[i].(Starter); is {
			lo, hi, from, ok = table.FunctionAt(pc)
		}
	}
	if !ok {
		return chain
	}
	if len(chain) == 0 {
		chain = make([]Location, 1)
	}
	l := &chain[len(chain)-1]
	l.Function, l.NameFrom = t.elf.madeName(lo), from
	l.Start, l.End, l.Offset = lo, hi, pc-lo
	return chain
}

// madeName returns the name of a function that begins at a run-time address: the module's name
// without folders, and the address in the module's file.
func (mod *elfModule) madeName(lo uint64) string {
	if name, ok := mod.made.Load(lo); ok {
		return name.(string)
	}
	file, addr := path.Base(mod.path()), lo-mod.m.Base()
	if mod.image != nil {
		addr = lo - mod.bias
	} else if i := strings.LastIndexByte(file, '\\'); mod.m.OpenPE != nil && i >= 0 {
		file = file[i+1:] // Windows divides folders so
	}
	name := fmt.Sprintf("%s!fn_%x", file, addr)
	if mod.namesSize.Add(int64(len(name))) <= maxNames {
		mod.made.Store(lo, name)
	}
	return name
}

// FunctionAt implements [Starter], by the file's unwind tables.
func (mod *elfModule) FunctionAt(pc uint64) (lo, hi uint64, from string, ok bool) {
	if mod.image == nil {
		return 0, 0, "", false
	}
	lo, hi, from, ok = mod.begins(pc - mod.bias)
	return lo + mod.bias, hi + mod.bias, from, ok
}

// unwinding has the unwind tables of a file, in the order in which they are asked. Those that it
// lacks are empty.
type unwinding struct {
	arch       *arch.Arch // nil if the file is not for a processor that is known
	cfi        *unwindtables.CFI
	sframe     *unwindtables.SFrame
	exceptions *unwindtables.Exceptions // nil if there is none
}

func readUnwinding(im *elfimage.Image) (x unwinding) {
	x.arch = arch.ByMachine(im.Machine, im.Order)
	if x.arch == nil || x.arch.Class() != im.Class {
		return unwinding{}
	}
	x.cfi, x.sframe = unwindtables.CFIIn(im, x.arch), unwindtables.SFrameIn(im, x.arch)
	if exceptions, err := unwindtables.ExceptionsIn(im); err == nil {
		x.exceptions = exceptions
	}
	return x
}

// begins is FunctionAt for addresses of the file.
func (mod *elfModule) begins(addr uint64) (lo, hi uint64, from string, ok bool) {
	mod.unwindingRead.Do(func() { mod.unwinding = readUnwinding(mod.image) })
	x := &mod.unwinding
	if x.arch == nil {
		return 0, 0, "", false
	}
	if _, _, stub := mod.image.StubSection(addr); stub {
		return 0, 0, "", false // one entry covers all stubs
	}
	if lo, hi, kind, ok := x.cfi.Function(addr); ok {
		return lo, hi, kind.String(), !mod.isStub(lo)
	}
	if lo, hi, ok := x.sframe.Function(addr); ok {
		return lo, hi, ".sframe", !mod.isStub(lo)
	}
	if x.exceptions != nil {
		if lo, hi, ok := x.exceptions.Function(addr); ok {
			return lo, hi, ".ARM.exidx", true
		}
	}
	return 0, 0, "", false
}

// isStub reports whether linkage stubs begin at an address of a file without sections, which would
// tell it: of what is mapped in memory, say. Of the first stub, which binds, the second one tells.
func (mod *elfModule) isStub(lo uint64) bool {
	const first, most = 32, 32 // bytes of the first stub, and of another one
	stubSlot := mod.unwinding.arch.StubSlot
	if stubSlot == nil || len(mod.image.ELF().Sections) > 0 {
		return false
	}
	code := mod.image.Loaded(lo, first+most)
	for at := 0; at <= first && at < len(code); at += first / 2 {
		if _, _, ok := stubSlot(code[at:], lo+uint64(at), 0); ok {
			return true
		}
	}
	return false
}
