package java

import (
	"fmt"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is Java's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "java" }

// FramesOnStack implements [language.OnStack].
func (Decorator) FramesOnStack() {}

// Find returns the virtual machine that a module is.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !vmstructs.In(m) {
		return nil, nil
	}
	t, err := vmstructs.Of(p.Modules, p.Memory, p.Arch)
	if err != nil {
		return nil, err
	}
	r := vmstructs.NewReader(p.Modules.MemoryOr(p.Memory), p.Arch.Order)
	defer r.Free()
	vm := &machine{module: m, arch: p.Arch, threads: newThreads(t, m)}
	vm.threads.colourVaries = p.Arch.JavaColours
	if vm.layout, err = layOut(t, p.Arch, release(r, t)); err != nil {
		vm.layout = nil
		err = fmt.Errorf("there are none, but what threads are called and wait for: %w", err)
	}
	if vm.layout != nil {
		vm.threads.raisedIn = vm.raisedIn
	}
	return []language.Runtime{vm}, err
}

// machine is a virtual machine.
type machine struct {
	*layout // nil if the frames cannot be read
	module  *target.Module
	arch    *arch.Arch
	methods methods
	decoded compilations
	named   atomic.Pointer[name] // the last name of code that was read, nil for none
	threads *threads
	pages   pages.Spare
}

// release returns the release of Java that a virtual machine is of; 0 if that is not known.
func release(r *vmstructs.Reader, t *vmstructs.Tables) int {
	if t.Is8() {
		return 8 // these call themselves 25
	}
	f, ok := t.Fields["Abstract_VM_Version::_vm_major_version"]
	n, known := r.Number(0, f)
	if !ok || !known {
		return 0
	}
	return int(n)
}
