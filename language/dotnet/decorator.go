package dotnet

import (
	"fmt"
	"sync"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is .NET's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "dotnet" }

// FramesOnStack implements [language.OnStack].
func (Decorator) FramesOnStack() {}

// Find returns the run time that a module is.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !coreclr.In(m) {
		return nil, nil
	}
	vm, err := coreclr.Of(p.Modules, p.Memory, p.Arch)
	if err != nil {
		return nil, err
	}
	if vm.Module != m {
		return nil, fmt.Errorf("there is another run time, %s", vm.Module.Path)
	}
	return []language.Runtime{&runtime{vm: vm, memory: p.Memory, modules: p.Modules, assemblies: map[uint64]*assembly{}, methods: map[methodKey]*method{}}}, nil
}

// runtime is the run time of a process.
type runtime struct {
	vm      *coreclr.Runtime
	memory  target.Memory
	modules *target.Modules
	pages   pages.Spare
	looks   looks

	mu         sync.Mutex
	assemblies map[uint64]*assembly // by the address of their Module
	methods    map[methodKey]*method
	threads    []coreclr.Thread // by the ends of their stacks
}
