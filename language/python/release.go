package python

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A lock keeps no owner. Where a function takes it by acquire(), and gives it back when whatever it
// does is over,
//
//	lock.acquire()
//	try:
//	    ...
//	finally:
//	    lock.release()
//
// the thread has the lock while it runs the block: the handler of the block's exceptions begins
// with the release. Its code says which variable, and which attributes of it, have the lock.

// operation is what an instruction does; see generate/opcodes.py.
type operation struct {
	name   string
	caches int // code units behind it that are none
}

// operations returns the operations of a release by their numbers.
func operations(minor int) map[byte]operation {
	operationsLock.Lock()
	defer operationsLock.Unlock()
	list, ok := operationsOf[minor]
	if ok {
		return list
	}
	list = map[byte]operation{}
	text, _ := layouts.ReadFile(fmt.Sprintf("layouts/opcodes-3.%d.txt", minor))
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		number, err := strconv.ParseUint(words[1], 10, 8)
		caches, err2 := strconv.Atoi(words[2])
		if err == nil && err2 == nil {
			list[byte(number)] = operation{words[0], caches}
		}
	}
	operationsOf[minor] = list
	return list
}

var (
	operationsLock sync.Mutex
	operationsOf   = map[int]map[byte]operation{}
)

// loaded is an object as code loads it: a variable, and an attribute, of which an attribute, and so
// on. All are numbers in the code's tables of names.
type loaded struct {
	from       string // the operation that loads the variable
	variable   int
	attributes []int
}

// mostAttributes bounds the attributes that lead to a lock and to its method.
const mostAttributes = 4

// loads returns what the first instructions of a handler load, the last attribute being the one
// that they call.
func loads(minor int, code []byte) (list []loaded) {
	ops := operations(minor)
	var x loaded
	extended := 0
	for i := 0; i+1 < len(code); {
		op := ops[code[i]]
		arg := extended<<8 | int(code[i+1])
		i += 2 + 2*op.caches
		extended = 0
		switch op.name {
		case "EXTENDED_ARG":
			if extended = arg; extended > 1<<16 {
				return list
			}
			continue
		case "NOP", "PUSH_EXC_INFO":
			if x.from != "" {
				return list
			}
		case "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME":
			if x.from != "" {
				return list
			}
			if op.name == "LOAD_GLOBAL" && minor >= 11 {
				arg >>= 1
			}
			x.from, x.variable = op.name, arg
		case "LOAD_ATTR", "LOAD_METHOD":
			if x.from == "" || len(x.attributes) == mostAttributes {
				return list
			}
			if op.name == "LOAD_ATTR" && minor >= 12 {
				arg >>= 1
			}
			x.attributes = append(x.attributes[:len(x.attributes):len(x.attributes)], arg)
			list = append(list, x)
		default:
			return list
		}
	}
	return list
}

// guard is what the handler of a block gives back.
type guard struct {
	loaded
	names []string // of the attributes
	name  string   // of a global variable
}

// guardAt returns what the handler at an offset, bytes from the first instruction, gives back; nil
// if it does not begin so. Instructions are at start.
func (c *code) guardAt(o *objects, start uint64, offset int64) *guard {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g, ok := c.guards[offset]; ok {
		return g
	}
	if c.guards == nil || len(c.guards) == mostLines {
		c.guards = map[int64]*guard{}
	}
	var room [128]byte
	n, _ := o.ReadMemory(start+uint64(offset), room[:])
	var g *guard
	for _, x := range loads(o.layout.minor, room[:n]) {
		names, err := o.namesOf(c.names, x.attributes)
		if err != nil {
			break
		}
		if last := len(names) - 1; names[last] == "release" {
			g = &guard{loaded: x, names: names[:last]}
			if x.from == "LOAD_GLOBAL" || x.from == "LOAD_NAME" {
				name, err := o.namesOf(c.names, []int{x.variable})
				if err != nil {
					g = nil
				} else {
					g.name = name[0]
				}
			}
		}
	}
	c.guards[offset] = g
	return g
}

// namesOf returns names from a code object's tuple of them, by their numbers.
func (o *objects) namesOf(tuple uint64, numbers []int) (list []string, err error) {
	n, err := o.sizeOf(tuple)
	if err != nil {
		return nil, err
	}
	for _, i := range numbers {
		if int64(i) >= n {
			return nil, fmt.Errorf("name %d of %d", i, n)
		}
		at, err := o.word(tuple + o.layout.at[tupleItems] + uint64(i*o.size))
		if err != nil {
			return nil, err
		}
		name, err := o.text(at, maxName)
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// givesBack returns the locks that a frame gives back when its blocks are over, the innermost
// block's last.
func (r *interpreter) givesBack(o *objects, e *entered, thread uint64) (list []lock) {
	c, err := r.codeAt(o.memory, e.code)
	if err != nil || c == nil || c.names == 0 {
		return nil
	}
	start, handlers := e.start, []int64(nil)
	if o.layout.minor >= 11 {
		handlers = c.handlersAround(o.memory, e.offset)
	} else if start, handlers, err = o.handlersOf(e); err != nil {
		return nil
	}
	for i := len(handlers) - 1; i >= 0; i-- {
		g := c.guardAt(o, start, handlers[i])
		if g == nil {
			continue
		}
		object := o.evaluate(e, g)
		if object == 0 {
			continue
		}
		if o.isInstance(object, "threading.Condition") {
			object, _ = o.attribute(object, "_lock")
		}
		k, ok := o.lockAt(object)
		if ok && k.locked && (!k.recursive || k.owner == thread) {
			list = append(list, k)
		}
	}
	return list
}

// handlersAround returns the handlers of the blocks around an instruction, the innermost first: the
// handler of one block lies in the next one.
func (c *code) handlersAround(m *memory, offset int64) (list []int64) {
	for range mostBlocks {
		h := c.handlerAt(m, offset)
		if h == nil {
			break
		}
		list = append(list, h.target)
		offset = h.target
	}
	return list
}

// handlersOf returns the handlers of a frame's blocks up to 3.10, the innermost first, and where
// the instructions are.
func (o *objects) handlersOf(e *entered) (start uint64, list []int64, err error) {
	const setupFinally = 122 // 3.8 to 3.10
	l := o.layout
	if !l.has(codeCode, objectBlocks, objectBlockCount) {
		return 0, nil, fmt.Errorf("the layout of blocks is not known")
	}
	code, err := o.pointer(e.code, codeCode)
	if err != nil {
		return 0, nil, err
	}
	n, err := o.int32(e.frame + l.at[objectBlockCount])
	if err != nil || n < 0 || n > mostBlocks {
		return 0, nil, fmt.Errorf("the frame at %#x has %d blocks: %w", e.frame, n, err)
	}
	for i := int64(n) - 1; i >= 0; i-- {
		at := e.frame + l.at[objectBlocks] + 12*uint64(i)
		kind, err := o.int32(at)
		if err != nil {
			return 0, nil, err
		}
		target, err := o.int32(at + 4)
		if err != nil {
			return 0, nil, err
		}
		if kind != setupFinally || target < 0 {
			continue
		}
		if l.minor == 10 {
			target *= 2
		}
		list = append(list, int64(target))
	}
	return code + l.at[bytesData], list, nil
}

// evaluate returns the object that a guard's code loads in a frame; 0 if there is none.
func (o *objects) evaluate(e *entered, g *guard) (object uint64) {
	globals := frameGlobals
	if o.layout.minor < 11 {
		globals = objectGlobals
	}
	switch g.from {
	case "LOAD_GLOBAL", "LOAD_NAME":
		if !o.layout.has(globals) {
			return 0
		}
		dict, err := o.pointer(e.frame, globals)
		if err != nil {
			return 0
		}
		object, _ = o.lookUp(o.reference(dict), g.name)
	default:
		list, values, err := o.slotValues(e.frame, e.code)
		i := g.variable
		if g.from == "LOAD_DEREF" && o.layout.minor < 11 { // cells follow the other variables
			i += max(0, slices.IndexFunc(list, func(v variable) bool { return v.cell }))
		}
		if err != nil || i >= len(list) {
			return 0
		}
		if object = values[i]; list[i].cell {
			object = o.inCell(object)
		}
	}
	for _, name := range g.names {
		if object == 0 {
			return 0
		}
		object = o.named(object, name)
	}
	return object
}

// named returns an attribute of an object, of its class, or of a module; 0 if there is none.
func (o *objects) named(object uint64, name string) (value uint64) {
	c, err := o.typeOf(object)
	if err != nil {
		return 0
	}
	switch {
	case c.name == "module":
		dict, err := o.pointer(object, moduleDict)
		if err != nil {
			return 0
		}
		value, _ = o.lookUp(dict, name)
		return value
	case c.flags&flagType != 0:
		return o.inClass(object, name)
	}
	if value, err = o.attribute(object, name); err != nil || value != 0 {
		return value
	}
	return o.inClass(c.addr, name)
}

// inClass returns what a class, or one that it extends, has by a name; 0 if none has it.
func (o *objects) inClass(class uint64, name string) (value uint64) {
	at, err := o.pointer(class, typeMRO)
	if err != nil {
		return 0
	}
	bases, _, _ := o.items(at, mostBases)
	for _, base := range bases {
		dict, err := o.pointer(base, typeDict)
		if err != nil || dict == 0 {
			continue // of a type that is written in C, the interpreter may have it
		}
		if value, err = o.lookUp(dict, name); err == nil && value != 0 {
			return value
		}
	}
	return 0
}
