package python

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// Greenlets, of the package of that name, which gevent and others use. All greenlets of a thread
// have their calls on its stack, where another one was before. From 3.12 on the frames of one that
// does not run would lead there, and greenlet has them lead past it, since its release 3.0.3.

// greenletKind is the kind of greenlets.
const greenletKind = "greenlet"

// mostGreenletWords bounds the part of a greenlet that is looked at, words: its fields have other
// places in each release.
const mostGreenletWords = 32

// ofGreenlets adds the greenlets of an interpreter that do not run. Nothing lists them but the
// garbage collector.
func (t *tasks) ofGreenlets(interp, modules uint64) {
	o := t.o
	var class uint64
	for _, name := range []string{"greenlet._greenlet", "greenlet"} { // the second up to 0.4
		if dict := o.dictOf(modules, name); class == 0 && dict != 0 {
			class, _ = o.lookUp(dict, "greenlet")
		}
	}
	if class == 0 {
		return
	}
	size, err := o.pointer(class, typeBasicSize)
	if err != nil {
		t.fail(fmt.Errorf("the type of greenlets: %w", err))
		return
	}
	is := map[uint64]bool{class: true} // by type
	var list []uint64
	err = t.eachCollected(interp, func(object, typ uint64) {
		yes, known := is[typ]
		if !known {
			yes = o.extends(typ, class)
			is[typ] = yes
		}
		if yes && len(list) <= mostTasks {
			list = append(list, object)
		}
	})
	if err != nil {
		t.fail(fmt.Errorf("the greenlets: %w", err))
	}
	thread, cut := t.onlyThread(interp), t.cutBy(modules)
	for _, object := range list {
		t.add(object, func(object uint64) (found, error) {
			x, err := t.readGreenlet(object, size)
			x.Thread = thread
			if x.Early == "" {
				x.Early = cut
			}
			return x, err
		})
	}
}

// cutBy says why the callers of a greenlet's function are missing; "" if they are not.
func (t *tasks) cutBy(modules uint64) string {
	if t.r.layout.minor < 12 {
		return ""
	}
	dict := t.o.dictOf(modules, "greenlet")
	if dict == 0 {
		return ""
	}
	version, err := t.o.lookUp(dict, "__version__")
	if err != nil || version == 0 {
		return ""
	}
	switch text, _ := t.o.text(version, maxName); text {
	case "3.0.0", "3.0.1", "3.0.2":
		return "greenlet " + text + " hides who has called the function; 3.0.3 does not"
	}
	return ""
}

// mostBases bounds how many classes one extends.
const mostBases = 64

// extends reports whether a type is another one, or has it among its bases.
func (o *objects) extends(typ, base uint64) bool {
	for range mostBases {
		if typ == base || typ == 0 {
			break
		}
		next, err := o.pointer(typ, typeBase)
		if err != nil {
			return false
		}
		typ = next
	}
	return typ == base
}

// onlyThread returns the system's ID of the thread of an interpreter that has a single one; 0 if it
// has others.
func (t *tasks) onlyThread(interp uint64) (id int) {
	for i := range t.states {
		if t.states[i].interpreter != interp {
			continue
		}
		if id != 0 {
			return 0
		}
		id = int(t.states[i].native)
	}
	return id
}

// readGreenlet reads a greenlet, whose own part has size bytes. Its kind is "" if it runs, has not
// begun, or is over: it has no frames then.
func (t *tasks) readGreenlet(object, size uint64) (x found, err error) {
	o := t.o
	words := o.readable(object, int(min(size/uint64(o.size), mostGreenletWords)))
	top := o.topFrame(words)
	if own := int(o.head())/o.size + 3; top == 0 && len(words) == own {
		// From 2.0 on: weak references, a dictionary, and the address of the rest.
		words = o.readable(words[own-1], mostGreenletWords)
		top = o.topFrame(words)
	}
	if top == 0 {
		return x, nil
	}
	c := chain{r: t.r, m: o.memory}
	frames, err := c.below(top)
	x.Task = language.Task{ID: object, Kind: greenletKind, State: "waiting", Frames: frames}
	if err != nil {
		x.Early = err.Error()
	}
	if name, err := o.attribute(object, "name"); err == nil && name != 0 {
		x.Name, _ = o.text(name, maxName)
	}
	return x, nil
}

// readable returns at most n words, as many as can be read.
func (o *objects) readable(addr uint64, n int) (list []uint64) {
	if addr == 0 || addr%uint64(o.size) != 0 {
		return nil
	}
	raw := make([]byte, n*o.size)
	got, _ := o.ReadMemory(addr, raw)
	for i := o.size; i <= got; i += o.size {
		list = append(list, o.get(raw[i-o.size:]))
	}
	return list
}

// topFrame returns which of the words of a greenlet is the object of its innermost frame; 0 if none
// is.
func (o *objects) topFrame(words []uint64) (frame uint64) {
	for _, w := range words {
		if w < 1<<16 || w%uint64(o.size) != 0 {
			continue
		}
		if _, is := o.isA(w, "frame"); is {
			return w
		}
	}
	return 0
}

// below reads the frame of a frame object, and the ones that have called it.
func (c *chain) below(object uint64) ([]language.Frame, error) {
	if c.r.layout.minor <= 10 {
		for object != 0 {
			x, err := c.object(object)
			if err != nil {
				return c.run, err
			}
			object = x.back
		}
		return c.run, nil
	}
	if !c.r.layout.has(frameObjectFrame) {
		return nil, errors.New("the layout of frame objects is not known")
	}
	at, err := c.m.pointer(object, frameObjectFrame)
	for at != 0 && err == nil {
		at, _, err = c.frame(at)
	}
	return c.run, err
}
