package java

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// mostVariables bounds the variables of one frame.
const mostVariables = 1 << 8

// variable is a slot of a frame with a name.
type variable struct {
	name, descriptor string
	slot             int
	argument         bool
}

// variables returns the arguments and the local variables of a frame of a method at a bytecode. A
// bytecode that is not known is negative: then the arguments alone are.
func (vm *machine) variables(r *reading, m *method, bci int32, from slots) (args, locals []language.Variable) {
	args, locals = []language.Variable{}, []language.Variable{}
	for _, v := range vm.variablesAt(r.Reader, m, bci) {
		x := language.Variable{Name: v.name, Type: typeName(v.descriptor), Value: r.variable(v.descriptor, from.at(v.slot, wide(v.descriptor)))}
		if v.argument {
			args = append(args, x)
		} else {
			locals = append(locals, x)
		}
	}
	return args, locals
}

// variablesAt returns the variables that have a value at a bytecode of a method, by their slots.
func (vm *machine) variablesAt(r *vmstructs.Reader, m *method, bci int32) (list []variable) {
	l := &vm.tablesOf
	flags, _ := r.Number(m.marks.constMethod, vm.flags)
	count, ok := r.Number(m.marks.constMethod, l.slots)
	if !ok || !l.known {
		return nil
	}
	// What the class file's table has of the arguments may be missing, or begin later.
	list = vm.arguments(r, m)
	arguments := len(list)
	for _, e := range l.entries(vm.tail(r, m), r.Order, flags) {
		x := variable{slot: e.slot}
		for i := range list[:arguments] {
			if list[i].slot == e.slot && e.start == 0 {
				x.argument = true
				list[i].name = vm.constant(r, m.marks.pool, int64(e.name))
			}
		}
		if x.argument || bci < e.start || bci-e.start >= e.length || int64(e.slot) >= count {
			continue
		}
		x.name, x.descriptor = vm.constant(r, m.marks.pool, int64(e.name)), vm.constant(r, m.marks.pool, int64(e.descriptor))
		if x.name != "" && descriptorLength(x.descriptor) == len(x.descriptor) && len(list) < mostVariables {
			list = append(list, x)
		}
	}
	return list
}

// arguments returns a method's arguments, by its descriptor. Their names are not in it.
func (vm *machine) arguments(r *vmstructs.Reader, m *method) (list []variable) {
	i, _ := r.Number(m.marks.constMethod, vm.tablesOf.signature)
	types, ok := parameters(vm.constant(r, m.marks.pool, i))
	if !ok {
		return nil
	}
	slot := 0
	if !m.static {
		list = append(list, variable{name: "this", descriptor: "L" + vm.symbol(r, m.marks.class) + ";", argument: true})
		slot = 1
	}
	for i, t := range types {
		list = append(list, variable{name: fmt.Sprintf("arg%d", i), descriptor: t, slot: slot, argument: true})
		slot++
		if wide(t) {
			slot++
		}
	}
	if n, ok := r.Number(m.marks.constMethod, vm.tablesOf.parameters); !ok || int64(slot) != n {
		return nil
	}
	return list
}

// tail returns the end of a ConstMethod, where its tables are.
func (vm *machine) tail(r *vmstructs.Reader, m *method) []byte {
	words, ok := r.Number(m.marks.constMethod, vm.words)
	end := m.marks.constMethod + uint64(words)*8
	if !ok || words <= 0 || words > mostWords || end < m.codes+m.size {
		return nil
	}
	b := make([]byte, min(end-m.codes-m.size, mostLines))
	if n, _ := r.Memory.ReadMemory(end-uint64(len(b)), b); n < len(b) {
		return nil
	}
	return b
}

// interpretedVariables adds the variables of an interpreted frame with this frame pointer.
func (vm *machine) interpretedVariables(r *reading, m *method, bci int32, fp uint64, x *language.Frame) {
	if from, ok := interpretedAt(r.Reader, fp, vm.slots.locals); ok {
		x.Args, x.Locals = vm.variables(r, m, bci, from)
	}
}

// compiledContents reads what is wanted of the frames for which the frame f of a compiled method
// stands, and returns the frames with it: list is of the scopes, the innermost first.
func (vm *machine) compiledContents(of *contents, a *arch.Arch, f *frame.Frame, b *vmstructs.Blob, at place, list []language.Frame) []language.Frame {
	variables := of.variables && vm.tablesOf.known
	monitors := of.monitors != nil && slices.ContainsFunc(at.scopes, func(s scope) bool { return s.monitors != 0 })
	cfa, known := f.CFA()
	if !known || b.Frame <= 0 || !vm.locations.known || !variables && !monitors {
		return list
	}
	r := of.reading
	p := &compiledPlace{vm: vm, r: r, arch: a, frame: f, blob: b, sp: cfa - 8*uint64(b.Frame), objects: map[uint64]int{}}
	p.least = vm.compiled.least
	if variables {
		list = slices.Clone(list) // it is kept
		p.read(at.from, at.objects)
	}
	for i, v := range p.all {
		if v.kind == valueObject || v.kind == valueBox || v.kind == valueMerge {
			p.objects[v.bits] = i
		}
	}
	for i, s := range at.scopes {
		if monitors {
			p.monitors(of, at.from, s.monitors, of.level+i)
		}
		if !variables {
			continue
		}
		if values, ok := p.read(at.from, s.locals); ok {
			list[i].Args, list[i].Locals = vm.variables(r, s.method, s.bci, &compiledSlots{p, values})
		}
	}
	return list
}

// mostValueBytes bounds the lists of values of one scope.
const mostValueBytes = 1 << 15

// read reads the list of values at an offset among the scopes; there is none at 0.
func (p *compiledPlace) read(from uint64, offset uint32) (list []int, ok bool) {
	if offset == 0 {
		return nil, true
	}
	before := len(p.all)
	for n := 1 << 8; n <= mostValueBytes; n *= 4 {
		room := make([]byte, n)
		got, _ := p.r.Memory.ReadMemory(from+uint64(offset), room)
		p.bytes, p.short, p.bad, p.all = room[:got], false, false, p.all[:before]
		if list = p.list(); !p.short || p.bad || got < n {
			break
		}
	}
	return list, !p.short && !p.bad
}

// constant returns the object at a number of the references of a compiled method.
func (p *compiledPlace) constant(number uint64) (object uint64, ok bool) {
	if number == 0 {
		return 0, true
	}
	offset, ok := p.r.Number(p.blob.At, p.vm.oops)
	if !ok || offset <= 0 {
		return 0, false
	}
	return p.r.Word(p.blob.At + uint64(offset) + 8*(number-1))
}
