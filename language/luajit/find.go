package luajit

import (
	"errors"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/coroutines"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds LuaJIT.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "luajit" }

// large is how large a file is at least that may have LuaJIT in it and not in its name, bytes.
const large = 2 << 20

// Wants implements [language.Chooser]: LuaJIT's library is small.
func (Decorator) Wants(m *target.Module) bool {
	return m.Hi()-m.Lo() >= large || isLuas(m) || m.IsProgram()
}

// isLuas reports whether a file has nothing but Lua in it, by its name.
func isLuas(m *target.Module) bool { return strings.Contains(path.Base(m.Path), "lua") }

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !luajit.In(m) {
		return nil, nil
	}
	if p.Arch.LuaJIT == nil {
		return nil, errors.New("its frames are not known on this processor")
	}
	machine := luajit.MachineIn(m, p.Arch)
	if machine == nil {
		return nil, errors.New("its virtual machine was not found: the file's tables of frames do not have it")
	}
	return []language.Runtime{&runtime{arch: p.Arch, module: m, machine: machine, modules: p.Modules, threads: p.Threads, writable: p.Writable}}, nil
}

// runtime is LuaJIT in a process.
type runtime struct {
	arch    *arch.Arch
	module  *target.Module
	machine *luajit.Machine

	modules  *target.Modules
	threads  func() ([]target.Thread, error) // nil where nobody knows them
	writable func() []target.Mapping         // as well

	main  coroutines.Mains // for tasks
	pages pages.Spare
}

// reader reads LuaJIT's structures of one moment.
type reader struct {
	*structs.Reader
	*runtime
	names   map[uint64]names  // of the functions in tables of modules, by their global_State
	sources map[uint64]source // by function: a recursion has the same ones
	bytes   int               // of the names of files
}

func (r *runtime) reader(m target.Memory) *reader {
	return &reader{Reader: structs.New(r.arch, m, &r.pages), runtime: r, names: map[uint64]names{}, sources: map[uint64]source{}}
}
