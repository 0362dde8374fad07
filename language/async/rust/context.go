package rust

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// context says where a thread keeps what tokio knows of it (tokio's runtime/context.rs).
type context struct {
	storage uint64 // offset in the module's part of the thread's storage
	handle  handle
	task    place  // in it: the number of the task that runs; nil type if that is not known
	link    uint64 // offset of the pointer to the next task, in what tokio has behind a task's future
}

// handle is where the thread has its scheduler's handle: an enumeration of kinds of schedulers.
type handle struct {
	offset uint64 // of the discriminant
	size   int    // of it
	kinds  []scheduler
}

// scheduler is one kind: its variant has a pointer to the scheduler.
type scheduler struct {
	variant
	offset uint64 // of the pointer
	typ    *value.Type
}

// contextNames are the names that the standard library has given to the variable within a
// thread-local one, by release: rustc 1.93 on, 1.77 on, before.
var contextNames = [...]string{"__RUST_STD_INTERNAL_VAL", "VAL", "__KEY"}

const (
	contextScope = "tokio::runtime::context::CONTEXT::"
	mostEntries  = 1 << 26 // of debug information that are looked through for it
)

// findContext finds tokio's thread-local variable. found is false if the module has none.
func (r *program) findContext(work *int) (found bool, err error) {
	for _, name := range contextNames {
		s := symbol.Search{Name: name, Work: work}
		hits, err := s.InModule(r.symbols, r.module)
		if err != nil {
			return false, fmt.Errorf("its debug information: %w", err)
		}
		for _, h := range hits {
			if h.Tag != dwarf.TagVariable || !strings.HasPrefix(h.Scope, contextScope) {
				continue
			}
			e, err := r.symbols.Entry(h.Ref)
			if err != nil {
				continue
			}
			offset, ok := threadOffset(e)
			if !ok {
				continue
			}
			found = true
			if r.context, ok = contextOf(r.types.TypeOf(e), offset); !ok {
				continue
			}
			if r.context.link, ok = r.linkOf(); ok {
				return true, nil
			}
		}
	}
	if found || r.polls(work) {
		return false, errNoTypes
	}
	return false, nil
}

// polls reports whether debug information has a function of tokio's tasks: without variables and
// types, functions are there (debug = 1), or their names without scopes ("line-tables-only").
func (r *program) polls(work *int) bool {
	return r.has("poll<", "tokio::runtime::task::", work) || r.has("drop_in_place<tokio::runtime::task::", "", work)
}

// has reports whether debug information has a function whose name begins so, in a scope that begins
// so.
func (r *program) has(name, scope string, work *int) bool {
	s := symbol.Search{Name: name, Begins: true, Tag: dwarf.TagSubprogram, Most: mostBodies, Work: work}
	hits, _ := s.InModule(r.symbols, r.module) // what was found counts
	return slices.ContainsFunc(hits, func(h symbol.Hit) bool { return strings.HasPrefix(h.Scope, scope) })
}

// contextOf lays out the variable.
func contextOf(t *value.Type, storage uint64) (c context, ok bool) {
	at, ok := within(t, "tokio::runtime::context::Context")
	if !ok {
		return c, false
	}
	c.storage = storage + at.offset
	p, ok := within(at.typ, "tokio::runtime::scheduler::Handle")
	if !ok {
		return c, false
	}
	c.task, _ = within(at.typ, "tokio::runtime::task::id::Id")
	d, cases, ok := p.typ.VariantCases()
	if !ok {
		return c, false
	}
	if d != nil {
		size, _ := d.Type.SizeOf()
		c.handle.offset, c.handle.size = p.offset+uint64(d.Offset), int(size)
	}
	for i := range cases {
		for j := range cases[i].Fields {
			f := &cases[i].Fields[j]
			if to, ok := pointee(f.Type); ok {
				c.handle.kinds = append(c.handle.kinds, scheduler{variant{labels: cases[i].Labels}, p.offset + uint64(f.Offset) + to.offset, to.typ})
			}
		}
	}
	return c, len(c.handle.kinds) > 0
}

// linkOf returns the offset of the pointer to the next task of a list in what tokio has behind a
// task's future.
func (r *program) linkOf() (offset uint64, ok bool) {
	work := mostEntries
	s := symbol.Search{Name: "Trailer", Work: &work}
	hits, _ := s.InModule(r.symbols, r.module)
	for _, h := range hits {
		if h.Scope == "tokio::runtime::task::core::" && !h.Declared {
			if next, ok := member(r.types.TypeAt(h.Ref), "next"); ok {
				return next.offset, true
			}
		}
	}
	return 0, false
}

// threadOffset returns the offset of a thread-local variable in its module's storage (DWARF 5,
// section 2.5.1.1: DW_OP_form_tls_address, and what compilers had before).
func threadOffset(e *symbol.Entry) (offset uint64, ok bool) {
	x, err := e.Expression(dwarf.AttrLocation, 0)
	if err != nil || x == nil || len(x.Code) < 2 {
		return 0, false
	}
	const const4, const8, constu, constx, gnuConst, formTLS, gnuTLS = 0x0c, 0x0e, 0x10, 0xa2, 0xfc, 0x9b, 0xe0
	if last := x.Code[len(x.Code)-1]; last != formTLS && last != gnuTLS {
		return 0, false
	}
	in := dwarfdata.New(x.Code, x.Order)
	switch in.U8() {
	case const4:
		offset = uint64(in.U32())
	case const8:
		offset = in.U64()
	case constu:
		offset = in.ULEB128()
	case constx, gnuConst: // of split DWARF: it is in the file's table of addresses
		if offset, err = x.Address(in.ULEB128()); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	return offset, !in.Bad
}

// threadPointer returns the address by which a thread's storage is found.
func threadPointer(a *arch.Arch, th target.Thread) (tp uint64, ok bool) {
	var regs arch.Registers
	if th.Registers(&regs) != nil || len(a.ThreadPointer) == 0 {
		return 0, false
	}
	for _, reg := range a.ThreadPointer {
		v, known := regs.Get(reg)
		if !known {
			return 0, false
		}
		tp = tp<<32 | v // of several registers, each has 32 bits
	}
	return tp, true
}
