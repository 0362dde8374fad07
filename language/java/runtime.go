package java

import (
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is Java's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "java" }

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !vmstructs.In(m) {
		return nil, nil
	}
	t, err := vmstructs.Of(p.Modules, p.Memory, p.Arch)
	if err != nil {
		return nil, err
	}
	return []language.Runtime{&vm{newThreads(t)}}, nil
}

// vm is a virtual machine.
type vm struct{ *threads }

// Decorate implements [language.Runtime].
func (vm *vm) Decorate(s *language.Stack) (*language.Decoration, error) {
	if s.FramesAlone {
		return nil, nil
	}
	if t := vm.tell(s); t != nil {
		return &language.Decoration{Thread: *t}, nil
	}
	return nil, nil
}
