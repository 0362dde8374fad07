package calling

import (
	"context"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/value"
)

// called is what a call goes to.
type called struct {
	addr uint64
	of   *value.Type // the function's type; nil if it is not known
	this *Value      // of a method: the object's address, its first argument
	// known is what debug information tells of the function; nil if it tells nothing. Of a virtual method, it is as
	// the class declares it: the code in the object's table may adjust the object's address first.
	known *function
}

// callee evaluates what is called.
func (e *Evaluator) callee(ctx context.Context, n *expression.Node) (to called, err error) {
	if !e.sees(n) {
		if n.Kind == expression.Name && !strings.HasPrefix(n.Text, "$") {
			return e.named(ctx, n)
		}
		v, err := e.value(ctx, n, nil)
		if err != nil {
			return to, err
		}
		addr, ok := v.integer(e.Process.Arch().Order)
		if !ok || !e.Process.Modules().IsCode(addr) {
			return to, e.fail(n.At, "what is called is not the address of code")
		}
		return called{addr: addr}, nil
	}
	v, err := e.look(ctx, n)
	if err != nil {
		return to, err
	}
	v = v.Referred()
	to.of = functionType(v.Type)
	switch t := v.Type.Strip(); {
	case t.Kind == value.Function && v.Place == value.InMemory:
		if to.addr = v.Addr; n.Kind == expression.Member {
			return to, e.method(ctx, n, &to)
		}
	case t.Kind == value.Pointer:
		if to.addr, err = v.Uint(); err != nil {
			return to, e.fail(n.At, err.Error())
		}
	default:
		return to, e.fail(n.At, fmt.Sprintf("what is called is of type %s: neither a function nor a pointer to one", v.Type))
	}
	to.addr = e.Process.Arch().CodeAddress(to.addr)
	if !e.Process.Modules().IsCode(to.addr) {
		return to, e.fail(n.At, fmt.Sprintf("what is called is not the address of code: %#x", to.addr))
	}
	return to, nil
}

// named returns the function that symbol tables name.
func (e *Evaluator) named(ctx context.Context, n *expression.Node) (to called, err error) {
	f, err := e.symbol(n)
	if err != nil {
		return to, err
	}
	if !f.function {
		return to, e.fail(n.At, n.Text+" is no function")
	}
	if f.indirect {
		f.addr, err = e.resolve(ctx, f.addr)
	}
	return called{addr: f.addr}, err
}

// method completes the call of a method of an object: its address is the first argument, and tells where a virtual
// method is.
func (e *Evaluator) method(ctx context.Context, n *expression.Node, to *called) error {
	known := e.describe(to.addr)
	if known == nil || !known.method {
		return nil // of static ones, too
	}
	object, err := e.look(ctx, n.Args[0])
	if err != nil {
		return err
	}
	object = object.Referred()
	at, t := object.Addr, object.Type.Strip()
	switch {
	case t.Kind == value.Pointer:
		if at, err = object.Uint(); err != nil {
			return e.fail(n.At, err.Error())
		}
		t = t.Elem().Strip()
	case object.Place != value.InMemory:
		return e.fail(n.At, "a method of an object that is in no memory")
	}
	class := t
	if list, _ := to.of.Parameters(); len(list) > 0 && list[0].Strip().Kind == value.Pointer {
		class = list[0].Strip().Elem().Strip()
	}
	if class.FullName() != t.FullName() { // the method is of a base class
		offset, ok := baseOffset(t, class.FullName(), 0)
		if !ok {
			return e.fail(n.At, fmt.Sprintf(
				"where %s has its base class %s is not known: call the method by the linker's name", t, class))
		}
		at += offset
	}
	a := e.Process.Arch()
	this := integerValue(e.model().pointer, class.String()+" *", at, a.Order)
	to.this, to.known = &this, known
	if !known.virtual {
		return nil
	}
	if known.slot < 0 {
		return e.fail(n.At, "where the table of virtual methods has the method is not known: call it by the linker's name")
	}
	word := make([]byte, a.PtrSize)
	for i, addr := range []uint64{at, uint64(known.slot) * uint64(a.PtrSize)} {
		if i == 1 {
			addr += a.Word(word)
		}
		if _, err := e.Process.Memory().ReadMemory(a.Wrap(addr), word); err != nil {
			return e.fail(n.At, err.Error())
		}
	}
	if to.addr = a.CodeAddress(a.Word(word)); !e.Process.Modules().IsCode(to.addr) {
		return e.fail(n.At, "the object has no table of virtual methods")
	}
	return nil
}

// baseOffset returns where a class has one that it is derived from, in bytes; ok is false if it has several, or
// virtually.
func baseOffset(t *value.Type, name string, depth int) (offset uint64, ok bool) {
	if depth > maxTypeDepth {
		return 0, false
	}
	n := 0
	for _, f := range t.Fields() {
		if !f.Base || f.Virtual {
			continue
		}
		if f.Type.Strip().FullName() == name {
			n, offset = n+1, uint64(f.Offset)
		} else if more, found := baseOffset(f.Type.Strip(), name, depth+1); found {
			n, offset = n+1, uint64(f.Offset)+more
		}
	}
	return offset, n == 1
}
