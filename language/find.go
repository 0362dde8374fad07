package language

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// leastRuntime is how large a module is at least, in memory, that has the run time of a language,
// bytes. Smaller ones are not opened, unless a [Chooser] wants them, so that a process without run
// times pays nothing.
const leastRuntime = 2 << 20

// mostRuntimes bounds the run times of one process.
const mostRuntimes = 64

// Find returns the run times of all languages in a process, in the order of the decorators. The
// error says which run times cannot be read, and why.
func Find(p *Process, list []Decorator) (runtimes []Named, err error) {
	var wrong []error
	for _, d := range list {
		if _, is := d.(TasksAlone); is && p.Symbols == nil {
			continue
		}
		for _, m := range p.Modules.All() {
			if !wants(d, m) {
				continue
			}
			found, err := find(d, p, m)
			what := "frames"
			if _, is := d.(TasksAlone); is {
				what = "tasks"
			}
			switch {
			case err != nil && len(found) > 0:
				wrong = append(wrong, fmt.Errorf("%s: %s of %s: %w", m.Path, what, d.Name(), err))
			case err != nil:
				wrong = append(wrong, fmt.Errorf("%s: %s of %s are not shown: %w", m.Path, what, d.Name(), err))
			}
			for _, r := range found {
				if len(runtimes) == mostRuntimes {
					return runtimes, errors.Join(append(wrong, fmt.Errorf("there are more than %d run times of languages: the others' frames are not shown", mostRuntimes))...)
				}
				runtimes = append(runtimes, Named{d.Name(), r})
			}
		}
	}
	return runtimes, errors.Join(wrong...)
}

// wants reports whether a decorator is to look at a module.
func wants(d Decorator, m *target.Module) bool {
	switch d := d.(type) {
	case Chooser:
		return d.Wants(m)
	case TasksAlone:
		return true
	}
	return m.Hi()-m.Lo() >= leastRuntime
}

// find has one decorator look at a module. One that fails finds nothing there.
func find(d Decorator, p *Process, m *target.Module) (found []Runtime, err error) {
	defer func() {
		if x := recover(); x != nil {
			found, err = nil, fmt.Errorf("the decorator has failed: %v", x)
		}
	}()
	return d.Find(p, m)
}
