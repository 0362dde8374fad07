package sbcl

import (
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/sbcl"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is SBCL's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "lisp" }

// Wants implements [language.Chooser]: the run time itself is small. Programs that were saved with
// it (SAVE-LISP-AND-DIE) have any name, but are no libraries.
func (Decorator) Wants(m *target.Module) bool {
	name := path.Base(m.Path)
	return strings.Contains(name, "sbcl") || m.Hi()-m.Lo() >= large && !strings.Contains(name, ".so")
}

// large is the size in memory from which on a module is looked into, bytes.
const large = 256 << 10

// Find returns the run time that a module is.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !sbcl.In(m) {
		return nil, nil
	}
	vm, err := sbcl.Of(p.Modules, p.Memory, p.Arch)
	if err != nil || vm.Module != m {
		return nil, err
	}
	return []language.Runtime{&runtime{vm: vm}}, nil
}

// runtime is the run time of a process.
type runtime struct {
	vm    *sbcl.Runtime
	pages pages.Spare
}
