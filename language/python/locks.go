package python

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/language"
)

// Locks (Modules/_threadmodule.c). Up to 3.12 a lock has a pointer to a semaphore of the system,
// and a recursive one has its owner and how often it was taken behind that. From 3.14 on it is a
// byte, for which threads wait in a record on their stacks (Python/parking_lot.c). Locks of 3.13
// that are not recursive are of the one kind or of the other, by the patch release: the object of a
// byte is smaller.

// lock is a lock object, or another one within which threads wait for a lock.
type lock struct {
	object    uint64
	kind      string
	recursive bool
	word      uint64 // what threads wait for: the semaphore, or the lock's byte
	locked    bool
	owner     uint64 // of a recursive one: pthread_self() of the thread that has it
}

// lockAt reads a lock object. ok is false if the object is another one.
func (o *objects) lockAt(object uint64) (k lock, ok bool) {
	c, err := o.typeOf(object)
	if err != nil {
		return k, false
	}
	k.object = object
	switch c.name {
	case "_thread.lock":
		k.kind = "lock"
	case "_thread.RLock":
		k.kind, k.recursive = "RLock", true
	case "_queue.SimpleQueue": // it begins with what threads wait for (Modules/_queuemodule.c)
		k.kind = "SimpleQueue"
		if k.word = object + o.layout.at[objectSize]; o.layout.minor < 13 {
			k.word, err = o.word(k.word)
		}
		return k, err == nil
	default:
		return k, false
	}
	words, err := o.words(object+o.layout.at[objectSize], 3)
	if err != nil {
		return k, false
	}
	mutex := o.layout.minor >= 14
	if o.layout.minor == 13 && !k.recursive {
		size, err := o.pointer(c.addr, typeBasicSize)
		if err != nil {
			return k, false
		}
		mutex = size <= o.layout.at[objectSize]+uint64(o.size)
	}
	switch {
	case mutex:
		k.word = object + o.layout.at[objectSize]
		k.locked = words[0]&1 != 0
	case k.recursive:
		k.word, k.locked = words[0], words[2] != 0
	default:
		k.word, k.locked = words[0], words[2]&0xff != 0
	}
	if k.recursive && k.locked {
		k.owner = words[1]
	}
	return k, true
}

// waitedWord returns the word of futex(2) for which a stack's thread waits.
func waitedWord(m *memory, s *language.Stack) (w arch.Futex, ok bool) {
	if s.Arch.SystemCalls == nil {
		return w, false
	}
	var regs arch.Registers
	if s.Thread.Registers(&regs) != nil {
		return w, false
	}
	pc, ok := regs.Get(s.Arch.PC)
	if !ok {
		return w, false
	}
	code := make([]byte, arch.SystemCallCode)
	if n, _ := m.ReadMemory(pc-arch.SystemCallCode/2, code); n < len(code) {
		return w, false
	}
	return s.Arch.Futex(&regs, code)
}

// mostStackWords bounds the words of the stack that may lead to the lock for which it waits.
const mostStackWords = 1 << 9

// waitedLocks are locks for which threads were seen to wait, by the words of futex(2): others may
// wait for the same ones.
type waitedLocks struct {
	mu      sync.Mutex
	objects map[uint64]uint64
}

// mostWaited bounds what is kept.
const mostWaited = 1 << 10

// of returns the object that is the lock of a word, as far as it was seen; 0 if it was not.
func (w *waitedLocks) of(word uint64) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.objects[word]
}

func (w *waitedLocks) add(word, object uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.objects == nil || len(w.objects) == mostWaited {
		w.objects = map[uint64]uint64{}
	}
	w.objects[word] = object
}

// waitedLock returns the lock for which a thread waits that is in futex(2) for the word.
func (r *interpreter) waitedLock(o *objects, s *language.Stack, groups []language.Group, word uint64) (k lock, ok bool) {
	if k, ok = o.lockOf(r.waited.of(word), word); ok {
		return k, true
	}
	if k, ok = r.findLock(o, s, groups, word); ok {
		r.waited.add(word, k.object)
	}
	return k, ok
}

// findLock is waitedLock for a lock that no thread was seen to wait for.
func (r *interpreter) findLock(o *objects, s *language.Stack, groups []language.Group, word uint64) (k lock, ok bool) {
	sp := s.Frames[0].Register(s.Arch.SP)
	if !sp.Known() {
		return k, false
	}
	size := uint64(o.size)
	onStack := word >= sp.Bits && word-sp.Bits <= mostStackWords*size
	switch {
	case o.layout.minor >= 14 && !onStack:
		return k, false
	case o.layout.minor >= 13 && onStack:
		// struct wait_entry: park_arg, the address that is waited for, the semaphore.
		at, err := o.word(word - size)
		if err != nil || at <= o.layout.at[objectSize] {
			return k, false
		}
		k, ok = o.lockAt(at - o.layout.at[objectSize])
		return k, ok && k.word == at
	}
	// The function that takes the lock keeps the object in a register, or on the stack.
	for _, r := range append(slices.Clone(s.Arch.OtherCalleeSaved), s.Arch.FP) {
		if v := s.Frames[0].Register(r); v.Known() {
			if k, ok := o.lockOf(v.Bits, word); ok {
				return k, true
			}
		}
	}
	end := sp.Bits + mostStackWords*size
	if len(groups) > 0 && groups[0].Anchor.Address > sp.Bits {
		end = min(end, groups[0].Anchor.Address)
	}
	for at := sp.Bits &^ (size - 1); at < end; {
		n := min(64, int((end-at)/size))
		if n == 0 {
			break
		}
		list, err := o.words(at, n)
		if err != nil {
			break
		}
		for _, v := range list {
			if v >= sp.Bits && v < end || r.modules.Find(v) != nil { // locks are on the heap
				continue
			}
			if k, ok := o.lockOf(v, word); ok {
				return k, true
			}
		}
		at += uint64(n) * size
	}
	return k, false
}

// lockOf returns the lock at an address that may be any, if its semaphore is word.
func (o *objects) lockOf(addr, word uint64) (k lock, ok bool) {
	if addr < 1<<16 || addr%8 != 0 {
		return k, false
	}
	if at, err := o.word(addr + o.layout.at[objectSize]); err != nil || at != word {
		return k, false
	}
	return o.lockAt(addr)
}

// tell returns what is told of a lock. frames are searched for a name of it, the innermost
// first.
func (r *interpreter) tell(o *objects, k lock, level int, frames []language.Frame) language.Lock {
	x := language.Lock{Kind: k.kind, Address: k.object, Level: level}
	if k.owner != 0 {
		x.Owner = r.threadOf(o, k.owner)
	}
	x.Name = o.nameIn(k.object, frames)
	return x
}

// mostFramesOfLock bounds the frames that are searched for the name of a lock: the function that
// takes it, and its callers, which may have passed it.
const mostFramesOfLock = 3

// nameIn returns by which name the innermost frames know an object; "" if they do not.
func (o *objects) nameIn(object uint64, frames []language.Frame) string {
	for i := range frames[:min(len(frames), mostFramesOfLock)] {
		if name := o.nameOf(object, &frames[i]); name != "" {
			return name
		}
	}
	return ""
}

// threadOf returns the system's ID of a thread that Python knows by another one; 0 if nobody knows.
// It is the one that the process itself has for the thread if the thread was not seen yet.
func (r *interpreter) threadOf(o *objects, id uint64) int {
	if tid := r.names.of(id); tid != 0 {
		return tid
	}
	var native uint64
	_ = r.eachThread(o.memory, func(t *threadState) bool {
		if t.id == id {
			if native = t.native; native == 0 { // up to 3.10
				native = r.nativeID(o, t)
			}
		}
		return native == 0
	})
	if native > 1<<31 {
		return 0
	}
	return int(native)
}

// mostNamed and mostGlobals bound the variables of a function, and the global ones, whose
// attributes are searched for an object.
const (
	mostNamed   = 8
	mostGlobals = 256
)

// nameOf returns by which name the function of a frame knows an object: a variable, an attribute of
// one, a global variable; "" if there is none.
func (o *objects) nameOf(object uint64, f *language.Frame) string {
	globals := frameGlobals
	if o.layout.minor < 11 {
		globals = objectGlobals
	}
	list, values, err := o.variablesOf(f)
	if err != nil || !o.layout.has(globals) {
		return ""
	}
	for i, v := range list {
		if v.cell {
			values[i] = o.inCell(values[i])
		}
		if values[i] == object {
			return v.name
		}
	}
	for i, v := range list {
		if i == mostNamed {
			break
		}
		if name := o.attributeOf(values[i], object); name != "" {
			return v.name + "." + name
		}
	}
	dict, err := o.pointer(f.Place, globals)
	if err != nil || dict == 0 {
		return ""
	}
	name := ""
	type global struct{ key, value uint64 }
	var others []global
	_ = o.each(dict, func(key, value uint64) bool {
		if value == object {
			name, _ = o.text(key, maxName)
		}
		if len(others) < mostGlobals {
			others = append(others, global{key, value})
		}
		return name == ""
	})
	if name != "" {
		return name
	}
	for _, g := range others {
		if attribute := o.attributeOf(g.value, object); attribute != "" {
			if name, _ := o.text(g.key, maxName); name != "" {
				return name + "." + attribute
			}
		}
	}
	return ""
}

// variablesOf returns the variables of a frame, and their objects; 0 for none.
func (o *objects) variablesOf(f *language.Frame) (list []variable, values []uint64, err error) {
	executable := frameExecutable
	if o.layout.minor < 11 {
		executable = frameObjectCode
	}
	if f.Place == 0 || !o.layout.has(executable) {
		return nil, nil, fmt.Errorf("the frame of %s has no place", f.Function)
	}
	code, err := o.pointer(f.Place, executable)
	if err != nil {
		return nil, nil, err
	}
	return o.slotValues(f.Place, code&^7)
}

// attributeOf returns the name of the attribute of an instance that is the object; "" if none is.
func (o *objects) attributeOf(instance, object uint64) (name string) {
	if instance == 0 {
		return ""
	}
	if c, err := o.typeOf(instance); err != nil || !c.heap() || c.flags&flagType != 0 {
		return ""
	}
	_ = o.eachAttribute(instance, func(key, value uint64) bool {
		if value == object {
			name, _ = o.text(key, maxName)
		}
		return name == ""
	})
	return name
}

// entered is a frame within statements that have handlers of exceptions.
type entered struct {
	frame, code uint64
	depth       int    // values on the value stack that the statements keep
	start       uint64 // of the instructions
	offset      int64  // of the instruction that runs, bytes
}

// held returns the locks of whose with statements a frame runs the body, the innermost last. A
// recursive lock says itself whether the thread has it. Another one is locked, and nothing but the
// with statement says by whom: the body may have let it go.
func (o *objects) held(e *entered, thread uint64) (list []lock) {
	values, err := o.kept(e)
	if err != nil {
		return nil
	}
	for i := range values {
		k, ok := o.leaves(values, i)
		if ok && k.locked && (!k.recursive || k.owner == thread) {
			list = append(list, k)
		}
	}
	return list
}

// kept returns the values on a frame's value stack that its statements keep there.
func (o *objects) kept(e *entered) ([]uint64, error) {
	l := o.layout
	if l.minor < 11 {
		return o.keptByBlocks(e.frame)
	}
	if e.depth == 0 {
		return nil, nil
	}
	at, err := o.pointer(e.code, codeLocalsNames)
	if err != nil {
		return nil, err
	}
	n, err := o.sizeOf(at)
	if err != nil || n < 0 || n > mostVariables {
		return nil, fmt.Errorf("the code object at %#x has %d variables: %w", e.code, n, err)
	}
	return o.words(e.frame+l.at[frameLocals]+uint64(n)*uint64(o.size), e.depth)
}

// mostBlocks is CO_MAXBLOCKS.
const mostBlocks = 20

// keptByBlocks is kept up to 3.10, where a frame has a stack of blocks (PyTryBlock): each says
// which level the value stack had where it began. What lies below is the block's own.
func (o *objects) keptByBlocks(frame uint64) (values []uint64, err error) {
	l := o.layout
	if !l.has(frameObjectValues, objectBlocks, objectBlockCount) {
		return nil, fmt.Errorf("the layout of blocks is not known")
	}
	n, err := o.int32(frame + l.at[objectBlockCount])
	if err != nil || n < 0 || n > mostBlocks {
		return nil, fmt.Errorf("the frame at %#x has %d blocks: %w", frame, n, err)
	}
	stack, err := o.pointer(frame, frameObjectValues)
	if err != nil {
		return nil, err
	}
	for i := range uint64(n) {
		level, err := o.int32(frame + l.at[objectBlocks] + 12*i + 8)
		if err != nil {
			return nil, err
		}
		if level < 1 || level > maxDepth {
			continue
		}
		v, err := o.word(stack + uint64(level-1)*uint64(o.size))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// leaves returns the lock whose __exit__ is on the value stack at values[i], or whose Condition's.
func (o *objects) leaves(values []uint64, i int) (k lock, ok bool) {
	l := o.layout
	v := o.reference(values[i])
	if v == 0 {
		return k, false
	}
	c, err := o.typeOf(v)
	if err != nil {
		return k, false
	}
	if l.minor >= 14 { // the function, and its self
		if i == 0 {
			return k, false
		}
		exit := o.reference(values[i-1])
		if exit == 0 {
			return k, false
		}
		switch f, err := o.typeOf(exit); {
		case err != nil:
			return k, false
		case f.name == "function":
			return o.ofCondition(exit, v)
		case f.name != "method_descriptor":
			return k, false
		}
		return o.lockAt(v)
	}
	switch c.name {
	case "builtin_function_or_method":
	case "method":
		if !o.layout.has(methodSelf) {
			return k, false
		}
		// PyMethodObject: im_func, im_self.
		words, err := o.words(v+l.at[methodSelf]-uint64(o.size), 2)
		if err != nil {
			return k, false
		}
		return o.ofCondition(words[0], words[1])
	default:
		return k, false
	}
	// PyCFunctionObject: m_ml, which begins with the name, and m_self.
	words, err := o.words(v+l.at[objectSize], 2)
	if err != nil {
		return k, false
	}
	name, err := o.word(words[0])
	if err != nil {
		return k, false
	}
	if text, err := o.cString(name); err != nil || text != "__exit__" {
		return k, false
	}
	return o.lockAt(words[1])
}

// ofCondition returns the lock of a Condition, if function is its __exit__.
func (o *objects) ofCondition(function, condition uint64) (k lock, ok bool) {
	name, err := o.fieldText(function, functionName)
	if err != nil || name != "Condition.__exit__" || condition == 0 || !o.isInstance(condition, "threading.Condition") {
		return k, false
	}
	at, err := o.attribute(condition, "_lock")
	if err != nil || at == 0 {
		return k, false
	}
	return o.lockAt(at)
}
