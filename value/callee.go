package value

import (
	"debug/dwarf"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// callee is what a call goes to.
type callee struct {
	Symbol
	t    *Type  // nil if nothing is known of the function
	this *Value // of a method: a pointer to its object
	// library is the object of a method that package value knows, if the program has no code of the
	// method.
	library *Value
	// among are the functions that the name may mean, the innermost scope's first. None if the name
	// can only mean this one.
	among  [][]candidate
	object *Value // of among, if they are methods
}

// callee evaluates what is called.
func (e *evaluation) callee(n *syntax.Node) (to callee, err error) {
	if n.Kind == syntax.Member {
		return e.calledMember(n)
	}
	if n.Kind == syntax.Name && !n.Overload && n.File == "" && !strings.HasPrefix(n.Text, "$") && e.local(n.Text) == nil {
		if to, ok, err := e.ownMethod(n); ok || err != nil {
			return to, err
		}
		s := e.session.Caller.Symbol(n.Text)
		if to, ok, err := e.namesakes(n, s); ok || err != nil {
			return to, err
		}
		if s != nil && s.Function {
			if to.Symbol = *s; !s.Indirect { // that one has another type
				to.t = e.functionType(s.Addr)
			}
			return to, nil
		}
	}
	v, err := e.value(n)
	if err != nil {
		return to, err
	}
	return e.calledValue(&v, n)
}

// calledValue returns the function that a value is, or points to.
func (e *evaluation) calledValue(v *Value, n *syntax.Node) (to callee, err error) {
	*v = referred(*v)
	t := v.Type.Strip()
	to.Function = true
	switch {
	case t.Kind == Function && v.Place == InMemory:
		to.Addr, to.t = v.Addr, t
	case t.Kind == Pointer || v.isInteger():
		if to.Addr, err = v.Uint(); err != nil {
			return to, e.because(n.At, err)
		}
		if t.Kind == Pointer && t.Elem().Strip().Kind == Function {
			to.t = t.Elem().Strip()
		}
	}
	to.Addr = e.r.Arch.CodeAddress(to.Addr)
	switch number := v.isInteger() && (n.Kind != syntax.Name && n.Kind != syntax.Member || e.r.Modules.IsCode(to.Addr)); {
	case to.t == nil && t.Kind != Pointer && !number:
		return to, e.fail(n.At, "what is called is of type %s: neither a function nor a pointer to one", v.Type)
	case !e.r.Modules.IsCode(to.Addr):
		return to, e.fail(n.At, "what is called is not the address of code: %#x", to.Addr)
	}
	if to.t == nil || to.t.entry == nil || !to.t.prototyped() { // the function itself may tell more
		if own := e.functionType(to.Addr); own != nil {
			to.t = own
		}
	}
	if to.t != nil && to.t.isUntold() {
		to.t = nil
	}
	return to, nil
}

// isUntold reports whether t is the type of functions of which no debug information tells.
func (t *Type) isUntold() bool { return t.Kind == Function && t.entry == nil && t.Name != "" }

// functionType returns the type of the function that begins at an address; nil if no debug
// information tells.
func (e *evaluation) functionType(addr uint64) *Type {
	list, _, err := e.r.Symbols.Scopes(e.r.Modules, e.r.Arch.CodeAddress(addr))
	if err != nil || len(list) == 0 {
		return nil
	}
	own := list[0].Entry
	t := e.r.typeAt(own.Ref)
	if about := e.r.typed(own); about != own {
		t = e.r.typeAt(about.Ref)
	}
	for x := range e.r.described(own) { // the first that has parameters
		of := e.r.typeAt(x.Ref)
		if list, more := of.Parameters(); len(list) > 0 || more {
			if of != t {
				t = t.withParameters(of)
			}
			break
		}
	}
	return t
}

// ownMethod returns the method of a name that the object has in whose method the frame is.
func (e *evaluation) ownMethod(n *syntax.Node) (to callee, ok bool, err error) {
	this := e.local("this")
	if this == nil || strings.HasPrefix(n.Text, "::") {
		return to, false, nil
	}
	v, ok, err := e.ofThis(n.Text, n.At)
	if !ok || err != nil {
		return to, false, err
	}
	if v.Type.Strip().Kind != Function {
		to, err = e.calledValue(&v, n)
		return to, true, err
	}
	object := this.Value()
	object = object.Deref()
	name := n.Text
	if base, last := splitName(name); base != "" {
		of, err := e.baseOf(&object, strings.TrimSuffix(base, "::"), n.At)
		if err != nil {
			return to, false, err
		}
		object, name = *of, last
	}
	to, err = e.methodsOf(&object, &v, name, n)
	return to, true, err
}

// calledMember evaluates object.name and object->name of a call. The object is evaluated once.
func (e *evaluation) calledMember(n *syntax.Node) (to callee, err error) {
	if v, ok, err := e.dotted(n); err != nil {
		return to, err
	} else if ok {
		return e.calledValue(&v, n)
	}
	object, err := e.value(n.Args[0])
	if err != nil {
		return to, err
	}
	owner, err := e.owner(object, n)
	if err != nil {
		return to, err
	}
	v, err := e.memberOf(&owner, n.Text, "structure", n.At)
	if err != nil {
		return callee{library: &object}, err
	}
	if v.Type.Strip().Kind != Function {
		return e.calledValue(&v, n)
	}
	_, name := splitName(n.Text)
	to, err = e.methodsOf(&owner, &v, name, n)
	to.library = &object
	return to, err
}

// methodsOf returns the call of a method of an object: first, if the class has no other one of the
// name.
func (e *evaluation) methodsOf(object, first *Value, name string, n *syntax.Node) (to callee, err error) {
	if list := e.methods(object.Type.Strip(), name, 0); len(list) > 1 {
		return callee{among: [][]candidate{list}, object: object}, nil
	}
	return e.boundMethod(object, first, n)
}

// boundMethod returns the call of a method of an object.
func (e *evaluation) boundMethod(object, method *Value, n *syntax.Node) (to callee, err error) {
	if to, err = e.calledValue(method, n); err != nil {
		return to, err
	}
	k := method.Type.Strip().entry
	if k == nil || !method.Type.Strip().method() {
		return to, nil // of static ones, too
	}
	to.t = method.Type.Strip()
	if object.Place != InMemory {
		if *object, err = e.placed(object, n.At); err != nil {
			return to, err
		}
	}
	part, of := *object, object.Type.Strip()
	list, _ := to.t.Parameters()
	if len(list) == 0 || list[0].Strip().Kind != Pointer {
		return to, e.fail(n.At, "what the method takes is not known")
	}
	class := list[0].Strip().Elem().Strip()
	if class.FullName() != of.FullName() { // the method is of a base class
		base, ok := e.related(object, class)
		if !ok {
			return to, e.fail(n.At, "where %s has its base class %s is not known: call the method by the linker's name", of, class)
		}
		part = base
	}
	this := e.pointer(list[0], part.Addr)
	to.this = &this
	if n, _ := k.Constant(dwarf.AttrVirtuality); n == 0 {
		return to, nil
	}
	slot, ok := virtualSlot(k.Block(dwarf.AttrVtableElemLoc))
	if !ok {
		return to, e.fail(n.At, "where the table of virtual methods has the method is not known: call it by the linker's name")
	}
	pointer := e.r.pointerTo(e.r.void())
	table := e.at(pointer, part.Addr)
	at, err := table.Uint()
	if err == nil {
		code := e.at(pointer, at+slot*uint64(e.r.Arch.PtrSize))
		to.Addr, err = code.Uint()
	}
	if err != nil {
		return to, e.because(n.At, err)
	}
	if to.Addr = e.r.Arch.CodeAddress(to.Addr); !e.r.Modules.IsCode(to.Addr) {
		return to, e.fail(n.At, "the object has no table of virtual methods")
	}
	return to, nil
}

// virtualSlot returns the number that an expression of DW_AT_vtable_elem_location is.
func virtualSlot(location []byte) (slot uint64, ok bool) {
	if len(location) < 2 || location[0] != dwarfdata.OpConstu {
		return 0, false
	}
	for i, b := range location[1:] {
		if i > 4 {
			break
		}
		if slot |= uint64(b&0x7f) << (7 * i); b < 0x80 {
			return slot, i+2 == len(location)
		}
	}
	return 0, false
}

// placed puts a value that is in no memory into the target's.
func (e *evaluation) placed(v *Value, at int) (Value, error) {
	if e.session == nil || e.session.Caller == nil {
		return *v, e.fail(at, "Attempt to take address of value not located in memory.")
	}
	b, err := v.Bytes()
	if err != nil {
		return *v, e.because(at, err)
	}
	addr, err := e.session.Caller.Place(b)
	if err != nil {
		return *v, err
	}
	return e.at(v.Type, addr), nil
}
