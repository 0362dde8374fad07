package python

import (
	"errors"
	"fmt"
)

// Bounds of the objects that are looked through, and where the heads of the collector's lists lie:
// three generations, each with two numbers of C's type int (struct gc_generation).
const (
	mostCollected  = 1 << 22
	generations    = 3
	generationSize = 24
	headOfObject   = 16 // PyGC_Head: the addresses of the next one and of the one before
)

// eachCollected calls do with the objects that may refer to others, and their types: the garbage
// collector of an interpreter has them in lists (Modules/gcmodule.c, Python/gc.c). The order says
// nothing. Free-threaded builds have no lists.
func (t *tasks) eachCollected(interp uint64, do func(object, typ uint64)) error {
	l := t.o.layout
	var first, permanent uint64
	var err error
	switch {
	case l.freeThreaded:
		return errors.New("free-threaded builds have no list of all objects")
	case l.has(interpreterGenerations, interpreterPermanent):
		first, permanent = interp+l.at[interpreterGenerations], interp+l.at[interpreterPermanent]
	case l.has(interpreterGeneration0, interpreterPermanent):
		first, err = t.o.pointer(interp, interpreterGeneration0)
		permanent = interp + l.at[interpreterPermanent]
	case l.has(runtimeGeneration0, runtimePermanent):
		first, err = t.o.pointer(t.r.runtime, runtimeGeneration0)
		permanent = t.r.runtime + l.at[runtimePermanent]
	default:
		err = errors.New("it is not known where the garbage collector has its lists")
	}
	if err != nil {
		return err
	}
	lists := []uint64{permanent}
	for i := range uint64(generations) {
		lists = append(lists, first+i*generationSize)
	}
	left := mostCollected
	for _, head := range lists {
		if err := t.o.eachLinked(head, &left, do); err != nil {
			return err
		}
	}
	return nil
}

// eachLinked calls do with the objects of a list, and their types. left is how many may be read
// yet.
func (o *objects) eachLinked(head uint64, left *int, do func(object, typ uint64)) error {
	const marks = 3 // the lowest bits are the collector's own
	next, err := o.word(head)
	if err != nil {
		return err
	}
	size := uint64(o.size)
	kind := headOfObject + o.layout.at[objectType]
	if kind > maxRecord-size {
		return errors.New("the layout of objects is not known")
	}
	room := make([]byte, kind+size)
	before := head
	for at := next &^ marks; at != head; {
		if *left--; *left < 0 {
			return fmt.Errorf("there are more than %d objects: not all were looked at", mostCollected)
		}
		if at == 0 || at > ^uint64(0)-maxRecord {
			return fmt.Errorf("the list of objects at %#x is broken", head)
		}
		if n, err := o.ReadMemory(at, room); n < len(room) {
			return fmt.Errorf("the list of objects at %#x: %w", head, err)
		}
		if o.get(room[size:])&^marks != before {
			return fmt.Errorf("the list of objects at %#x is broken, or is being changed", head)
		}
		do(at+headOfObject, o.get(room[kind:]))
		before, at = at, o.get(room)&^marks
	}
	return nil
}
