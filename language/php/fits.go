package php

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// newest is the API of the newest release whose structures are known: a later one is tried as if it
// were this one.
const newest = 2025_09_25

// opHandleException is the instruction that the engine keeps in its state, three times.
const opHandleException = 149

// fits reports whether the layout leads through the state of a process: the engine's instructions
// are there, and all calls lead to functions with files and lines.
func (e *engine) fits(m target.Memory) (err error) {
	if e.where.threaded {
		return errors.New("its threads have states of their own")
	}
	const tries = 5 // the process runs meanwhile
	for range tries {
		if err = e.fitsNow(m); err == nil {
			return nil
		}
	}
	return err
}

func (e *engine) fitsNow(m target.Memory) error {
	r := e.reader(m)
	defer r.Free()
	c := e.newChain(r, e.where.state)
	l := e.layout
	for i := range uint64(3) {
		if op := c.Uint(c.globals+l.at[globalsExceptionOp]+i*l.at[opSize]+l.at[opCode], 1); op != opHandleException {
			return fmt.Errorf("an instruction of the engine's own is %d, not %d", op, opHandleException)
		}
	}
	if err := c.read(c.Pointer(c.globals + l.at[globalsCurrent])); err != nil {
		return err
	}
	if len(c.calls) == 0 {
		return errors.New("nothing runs")
	}
	for i := range c.calls {
		one := &c.calls[i]
		if i > 0 && one.function.user() && (one.function.file == "" || c.lineOf(one.function, one.opline) == 0) {
			return errors.New("a function has no file, or no line")
		}
	}
	return c.Err()
}
