package rust

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// shape is how the type of a future lies in memory, as far as that leads to what it waits for. It
// is worked out once for each type: thousands of tasks have the same.
type shape struct {
	id   uint32
	name string // as it is shown

	way  way
	to   *value.Type // of a pointer: what it points to
	list listed      // of a set of futures

	typ     *value.Type // of an async function
	machine *machine
	parts   []part  // of another future, and of what futures are wrapped in
	choice  *choice // the same, by which variant it has
	lock    uint64  // offset of the pointer to what it waits for; see waitsFor
}

// way is how a shape leads on.
type way uint8

const (
	byParts     way = iota
	byMachine       // an async function
	byPointer       // a pointer, also a Box
	byTable         // a pointer to "dyn Future": the pointer, and the one to the table of methods
	byTask          // a JoinHandle: a pointer to a task of tokio's
	byAsyncTask     // the same of async-task
	byExecutor      // what runs an executor of async-executor
	byLocalSet      // a LocalSet of tokio's, which has tasks of its own
	byList          // a set of futures
	byLock          // it waits for a permit of a semaphore
	byLeaf          // it leads no further, and is one of several that are waited for
)

// part is a part of an object.
type part struct {
	offset uint64
	of     *shape
}

// choice are the parts of each variant of an enumeration.
type choice struct {
	offset uint64 // of the discriminant
	size   int    // of it; 0 if there is but one variant
	cases  []variant
}

type variant struct {
	labels [][2]uint64
	parts  []part
}

// has reports whether the variant is there with a discriminant. A variant without labels is there
// with all other ones.
func (v *variant) has(n uint64) bool {
	for _, l := range v.labels {
		if l[0] <= n && n <= l[1] {
			return true
		}
	}
	return false
}

// pick returns the variant of a discriminant; nil if there is none.
func (c *choice) pick(n uint64) (other *variant) {
	for i := range c.cases {
		v := &c.cases[i]
		if len(v.labels) == 0 {
			other = v
		} else if v.has(n) {
			return v
		}
	}
	return other
}

// machine is an async function, or block: it is suspended at one place.
type machine struct {
	offset uint64 // of the number of the state
	size   int
	states []state
}

type state struct {
	number  uint64
	name    string // "Suspend0", "Unresumed", "Returned", "Panicked"
	file    string
	line    int
	awaitee part // nil shape if it waits for nothing that is known
	typ     *value.Type
	by      *executor // of what runs an executor: how the future leads to that
}

func (m *machine) state(n uint64) *state {
	for i := range m.states {
		if m.states[i].number == n {
			return &m.states[i]
		}
	}
	return nil
}

// Bounds of what is worked out.
const (
	mostShapes = 1 << 16
	mostStates = 1 << 12
	mostNested = 16 // of types within each other
)

// shapeOf returns the shape of a type.
func (r *program) shapeOf(t *value.Type) *shape {
	t = t.Strip()
	if s := r.shapes[t]; s != nil {
		return s
	}
	if len(r.shapes) >= mostShapes {
		clear(r.shapes)
	}
	n := mostParts
	s := r.newShape(t, mostNested, &n)
	if s == nil {
		s = &shape{name: shown(t)}
	}
	if s.id == 0 {
		r.numbered++
		s.id = r.numbered
	}
	r.shapes[t] = s
	return s
}

// newShape works out a shape; nil if it leads to nothing.
func (r *program) newShape(t *value.Type, nested int, left *int) *shape {
	t = t.Strip()
	if *left--; *left < 0 || nested < 0 {
		return nil
	}
	if s := r.shapes[t]; s != nil {
		if s.way == byParts && len(s.parts) == 0 && s.choice == nil {
			return nil
		}
		return s
	}
	switch {
	case t.Kind == value.Pointer:
		if strings.HasPrefix(t.Name, "&mut ") || strings.HasPrefix(t.Name, "alloc::boxed::Box<") {
			return &shape{way: byPointer, to: t.Elem().Strip()}
		}
		if t.Name == "&"+localSetName { // of what runs one
			return &shape{way: byPointer, to: t.Elem().Strip()}
		}
		return nil
	case t.Kind != value.Struct:
		return nil
	case isMachine(t):
		return r.machineOf(t)
	case strings.Contains(t.Name, "dyn core::future::future::Future<"):
		if f := t.Fields(); len(f) == 2 && f[0].Name == "pointer" && f[1].Name == "vtable" && f[0].Offset == 0 {
			return &shape{way: byTable}
		}
	}
	name := plain(t.FullName())
	if s := r.known(t, name); s != nil {
		return s
	}
	s := &shape{name: shown(t)}
	several := severalOf(name)
	s.parts = r.partsOf(t.Fields(), several, nested, left)
	if d, cases, ok := t.VariantCases(); ok {
		c := &choice{}
		if d != nil {
			size, _ := d.Type.SizeOf()
			c.offset, c.size = uint64(d.Offset), int(size)
		}
		some := false
		for _, v := range cases {
			parts := r.partsOf(v.Fields, several, nested, left)
			some = some || len(parts) > 0
			c.cases = append(c.cases, variant{v.Labels, parts})
		}
		if some {
			s.choice = c
		}
	}
	if len(s.parts) == 0 && s.choice == nil {
		return nil
	}
	return s
}

// leaves are futures that lead no further. Where one is a member of another future, nothing tells
// that it is waited for, but for the macros that wait for several: see severalOf.
var leaves = map[string]bool{
	"tokio::time::sleep::Sleep": true, "tokio::sync::oneshot::Receiver": true, "tokio::sync::notify::Notified": true,
	"tokio::runtime::io::scheduled_io::Readiness": true, "futures_channel::oneshot::Receiver": true,
}

// severalOf reports whether the members of a type are all waited for: it is the tuple of select!,
// or what join! keeps each of its futures in. name has no generic arguments.
func severalOf(name string) bool {
	return strings.HasPrefix(name, "(") || strings.HasPrefix(name, "tokio::future::maybe_done::MaybeDone") ||
		strings.HasPrefix(name, "futures_util::future::maybe_done::MaybeDone")
}

// leafOf returns the shape of a future that leads no further, nil if the type is none.
func leafOf(t *value.Type) *shape {
	if name := plain(t.Strip().FullName()); leaves[name] {
		return &shape{name: name, way: byLeaf, typ: t.Strip()}
	}
	return nil
}

func (r *program) partsOf(fields []value.Field, several bool, nested int, left *int) (list []part) {
	for i := range fields {
		f := &fields[i]
		if f.Static || f.Offset < 0 {
			continue
		}
		s := r.newShape(f.Type, nested-1, left)
		if s == nil && several {
			s = leafOf(f.Type)
		}
		if s != nil {
			list = append(list, part{uint64(f.Offset), s})
		}
	}
	return list
}

// isMachine reports whether a type is an async function's or block's. rustc calls it coroutine, and
// called it generator before.
func isMachine(t *value.Type) bool {
	name := t.Name
	for _, of := range [...]string{"{async_fn_env#", "{async_block_env#", "{async_closure_env#", "{coroutine_env#", "{generator_env#"} {
		if strings.HasPrefix(name, of) {
			return t.HasVariants()
		}
	}
	return false
}

func (r *program) machineOf(t *value.Type) *shape {
	d, cases, ok := t.VariantCases()
	if !ok {
		return nil
	}
	m := &machine{}
	if d != nil {
		size, _ := d.Type.SizeOf()
		m.offset, m.size = uint64(d.Offset), int(size)
	}
	for i := range cases[:min(len(cases), mostStates)] {
		c := &cases[i]
		if len(c.Fields) == 0 {
			continue
		}
		f := &c.Fields[0]
		x := state{name: f.Type.Strip().Name}
		if len(c.Labels) > 0 {
			x.number = c.Labels[0][0]
		}
		x.file, x.line = f.Declared()
		of := f.Type.Strip().Fields()
		for j := range of {
			if of[j].Name == "__awaitee" {
				x.awaitee.offset = uint64(f.Offset + of[j].Offset)
				x.typ = of[j].Type.Strip()
			}
		}
		if strings.HasPrefix(t.FullName(), executorCrate) {
			runOf(&x, f, of)
		}
		m.states = append(m.states, x)
	}
	r.numbered++
	s := &shape{id: r.numbered, name: r.functionName(t), way: byMachine, typ: t, machine: m}
	r.shapes[t] = s
	return s
}

// runOf completes a state of a function of async-executor's that waits for a future, and runs tasks
// beside: it leads to the executor, and to that future alone.
func runOf(x *state, within *value.Field, fields []value.Field) {
	for i := range fields {
		if f := &fields[i]; f.Name == "self" {
			if by, ok := executorOf(f.Type); ok {
				by.steps[0] += uint64(within.Offset + f.Offset)
				x.by = &by
			}
		}
	}
	if x.typ != nil && plain(x.typ.FullName()) == "futures_lite::future::Or" {
		if f, ok := member(x.typ, "future1"); ok {
			x.awaitee.offset += f.offset
			x.typ = f.typ
		}
	}
}

// wrapping are types that are no futures of their own, by their names without generic arguments.
var wrapping = map[string]bool{
	"core::pin::Pin": true, "core::option::Option": true, "core::cell::UnsafeCell": true,
	"core::future::from_generator::GenFuture": true, // around each async function, before rustc 1.69
	"async_executor::AsyncCallOnDrop":         true, localsName: true,
	"core::mem::manually_drop::ManuallyDrop": true, "core::mem::maybe_uninit::MaybeUninit": true,
}

// shown returns the name of a type that is shown for a future which is no async function; "" for
// what is only around one.
func shown(t *value.Type) string {
	name := plain(t.FullName())
	if wrapping[name] || strings.HasPrefix(name, "(") {
		return ""
	}
	return name
}
