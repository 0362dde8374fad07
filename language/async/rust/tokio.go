package rust

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

const (
	cellName  = "tokio::runtime::task::core::Cell"
	stageName = "tokio::runtime::task::core::Stage"
	pollName  = "tokio::runtime::task::raw::poll"

	harnessName = "tokio::runtime::task::harness::Harness::poll" // which a poll may jump to
	headerName  = "tokio::runtime::task::core::Header"

	contextName = "core::task::wake::Context" // the second parameter of each method that polls a future
)

// Bits of the word that has a task's state (tokio's runtime/task/state.rs; the same since 1.0).
const (
	taskRunning   = 1
	taskComplete  = 2
	taskNotified  = 4
	taskCancelled = 32
)

// layout is where tokio keeps what all tasks have. It is worked out from the type of a task's
// header, of which there is one a file.
type layout struct {
	state, table  uint64 // offsets in the header: of the state's word, and of the pointer to the table
	poll, trailer uint64 // offsets in the table: of the function that polls, and of where the trailer is
	id            uint64 // offset in the table of where the task's number is
	hasID         bool
}

// layoutOf works out the layout of a header's type; nil if it is not as it should be.
func (r *program) layoutOf(header *value.Type) *layout {
	if l, ok := r.layouts[header]; ok {
		return l
	}
	l := r.newLayout(header)
	r.layouts[header] = l
	return l
}

func (r *program) newLayout(header *value.Type) *layout {
	l := &layout{}
	state, ok := within(header, "tokio::runtime::task::state::State")
	if !ok {
		return nil
	}
	l.state = state.offset
	table, ok := member(header, "vtable")
	if !ok || table.typ.Kind != value.Pointer {
		return nil
	}
	l.table = table.offset
	t := table.typ.Elem().Strip()
	poll, ok1 := member(t, "poll")
	trailer, ok2 := member(t, "trailer_offset")
	if !ok1 || !ok2 {
		return nil
	}
	l.poll, l.trailer = poll.offset, trailer.offset
	if id, ok := member(t, "id_offset"); ok {
		l.id, l.hasID = id.offset, true
	}
	return l
}

// cell is the type of tasks with one type of future.
type cell struct {
	future      *value.Type
	offset      uint64 // of the future in the task
	kind        string
	header      *value.Type // nil if it is not known
	closure     string      // of a task of spawn_blocking: the function that it is to call
	id          uint64
	hasID       bool
	name        string // of the future's type, where nothing else is known
	unsupported string // why the future is not known
}

// cellOf returns what is known of tasks that a function polls; ok is false if it is not tokio's.
func (r *program) cellOf(poll uint64) (c *cell, ok bool) {
	if c, ok = r.cells[poll]; ok {
		return c, c != nil
	}
	if len(r.cells) >= mostShapes {
		clear(r.cells)
	}
	c = r.newCell(poll)
	r.cells[poll] = c
	return c, c != nil
}

func (r *program) newCell(poll uint64) *cell {
	code := r.codeAt(poll)
	if plain(code.name) != pollName {
		return nil
	}
	c := &cell{kind: "tokio task", unsupported: errNoTypes.Error()}
	_, args, _ := strings.Cut(code.name, "<")
	c.name = firstArgument(args)
	if len(code.generic) == 0 || code.cell == nil {
		return c
	}
	c.future = code.generic[0].Strip()
	if strings.HasPrefix(plain(c.future.FullName()), "tokio::runtime::blocking::task::BlockingTask") {
		c.kind = "tokio blocking task"
		c.closure = closureOf(c.future)
	}
	if h, ok := within(code.cell, headerName); ok {
		c.header = h.typ
	}
	if id, ok := within(code.cell, "tokio::runtime::task::id::Id"); ok {
		c.id, c.hasID = id.offset, true
	}
	stage, ok := within(code.cell, stageName)
	if !ok {
		return c
	}
	for _, fields := range stage.typ.Variants() {
		for i := range fields {
			if f := &fields[i]; f.Name == "Running" {
				of := f.Type.Strip().Fields()
				if len(of) > 0 && of[0].Type.Strip().FullName() == c.future.FullName() {
					c.offset, c.unsupported = stage.offset+uint64(f.Offset+of[0].Offset), ""
				}
			}
		}
	}
	return c
}

// closureOf returns the name of the function of a task of spawn_blocking.
func closureOf(task *value.Type) string {
	args := task.TemplateArguments()
	if len(args) == 0 || args[0].Type == nil {
		return ""
	}
	return strings.Replace(plain(args[0].Type.Strip().FullName()), "_env#", "#", 1)
}

// firstArgument returns the first of a list of generic arguments.
func firstArgument(list string) string {
	depth := 0
	for i := range len(list) {
		switch list[i] {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if depth == 0 {
				return list[:i]
			}
			depth--
		case ',':
			if depth == 0 {
				return list[:i]
			}
		}
	}
	return list
}

// owned is a list of tasks: how its type leads to their first ones.
type owned struct {
	heads  []uint64 // offsets of pointers to first tasks in the scheduler's handle
	shards *shards
	header *value.Type
	pool   *pool // nil if there is none
}

// shards are several lists, in an array.
type shards struct {
	data, count uint64 // offsets of the pointer to the array, and of how many there are
	size, head  uint64 // bytes of each, and the offset of the pointer to the first task in it
}

// ownerOf is ownedBy for a type that is asked for again.
func (r *program) ownerOf(t *value.Type) *owned {
	if o, ok := r.owners[t]; ok {
		return o
	}
	var o *owned
	if x, ok := ownedBy(t); ok {
		x.pool = poolOf(t)
		o = &x
	}
	r.owners[t] = o
	return o
}

// ownedBy lays out the list of tasks within a type: of a scheduler, or of a LocalSet.
func ownedBy(t *value.Type) (o owned, ok bool) {
	isOwned := func(t *value.Type) bool {
		name := plain(t.FullName())
		return name == "tokio::runtime::task::list::OwnedTasks" || name == "tokio::runtime::task::list::LocalOwnedTasks"
	}
	list, ok := search(t, isOwned)
	if !ok {
		return o, false
	}
	isList := func(t *value.Type) bool { return plain(t.FullName()) == "tokio::util::linked_list::LinkedList" }
	if at, ok := search(list.typ, isList); ok { // a single one
		head, header, ok := headOf(at.typ)
		o.heads, o.header = []uint64{list.offset + at.offset + head}, header
		return o, ok
	}
	array, ok := member(list.typ, "lists")
	if !ok {
		return o, false
	}
	data, ok1 := member(array.typ, "data_ptr")
	count, ok2 := member(array.typ, "length")
	if !ok1 || !ok2 || data.typ.Kind != value.Pointer {
		return o, false
	}
	elem := data.typ.Elem().Strip()
	size, ok := elem.SizeOf()
	if !ok || size == 0 {
		return o, false
	}
	at, ok := search(elem, isList)
	if !ok {
		return o, false
	}
	head, header, ok := headOf(at.typ)
	at0 := list.offset + array.offset
	o.shards, o.header = &shards{at0 + data.offset, at0 + count.offset, size, at.offset + head}, header
	return o, ok
}

// headOf returns the offset of the pointer to the first task of a list, and the type of its header.
func headOf(list *value.Type) (offset uint64, header *value.Type, ok bool) {
	head, ok := member(list, "head")
	if !ok {
		return 0, nil, false
	}
	to, ok := pointee(head.typ)
	if !ok {
		return 0, nil, false
	}
	return head.offset + to.offset, to.typ, true
}
