package rust

import (
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/value"
)

// poolName is the executor of the crate futures that runs its tasks on one thread.
const poolName = "futures_executor::local_pool::LocalPool"

// ofPool reports whether a function is a method of a LocalPool that runs its tasks.
func ofPool(name string) bool { return strings.HasPrefix(name, poolName+"::") }

// localPool lists the tasks of the LocalPool that a variable of a frame has, or points to. It
// reports whether there is one. Nothing else leads to a LocalPool: the function that runs it has it
// for an argument, which optimised code may have lost, and one further out has it.
func (t *tasks) localPool(f *frame.Frame) bool {
	for _, location := range t.symbols.Locate(t.modules, f.AddressInBlock()) {
		variables, err := t.types.Frame(&logical.Frame{
			Location: location, Type: f.Type(), Level: f.Level, PC: f.PC(), AddressInBlock: f.AddressInBlock(), Physical: f,
		}, t.memory)
		if err != nil {
			continue
		}
		at, typ := uint64(0), (*value.Type)(nil)
		for _, v := range append(variables.Arguments, variables.Locals...) {
			switch typ = v.Type.Strip(); {
			case typ.FullName() == poolName:
				if x := v.Value(); x.Place == value.InMemory {
					at = x.Addr
				}
			case typ.Kind == value.Pointer && typ.Elem().Strip().FullName() == poolName:
				x := v.Value()
				at, _ = x.Word(0)
				typ = typ.Elem().Strip()
			}
			if at != 0 {
				break
			}
		}
		variables.Release()
		if at != 0 {
			if !t.begun(at) {
				t.pooled(at, typ)
			}
			return true
		}
	}
	return false
}

// pooled lists the tasks of a LocalPool at an address.
func (t *tasks) pooled(at uint64, typ *value.Type) {
	set, ok := within(typ, unorderedName)
	if !ok {
		return
	}
	var list []found
	t.parts(at+set.offset, t.shapeOf(set.typ), &list, 0)
	for _, f := range list {
		if f.typ == nil || t.seen[f.at] {
			continue
		}
		if len(t.list) == mostTasks {
			t.fail("there are more than %d tasks", mostTasks)
			return
		}
		t.seen[f.at] = true
		i := len(t.list)
		t.list = append(t.list, language.Task{ID: f.at, Kind: "futures task"})
		t.chain(i, f.at, f.typ)
	}
}
