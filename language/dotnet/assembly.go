package dotnet

import (
	"bytes"
	"io"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/language/internal/ecma335"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds for what is kept of a process.
const (
	mostAssembly   = 32 << 20 // bytes of a file that is read where memory lacks it
	mostAssemblies = 1 << 12
	mostMethods    = 1 << 16
)

// assembly is what names the methods of an assembly.
type assembly struct {
	names *ecma335.Metadata // nil if it cannot be read
	lines *ecma335.Metadata // nil if it has none
	code  *ecma335.Assembly // nil if it cannot be read
	guess bool              // its file was read, which may be another by now
}

// inMemory reads the file of an assembly where the process has it.
type inMemory struct {
	target.Memory
	coreclr.Assembly
}

// ReadAt implements [io.ReaderAt].
func (x inMemory) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= int64(x.Size) {
		return 0, io.EOF
	}
	if left := int64(x.Size) - off; int64(len(p)) > left {
		p, err = p[:left], io.EOF
	}
	n, wrong := x.ReadMemory(x.Base+uint64(off), p)
	if wrong != nil {
		err = wrong
	}
	return n, err
}

// assembly returns the assembly of a module's record. Assemblies stay for as long as they are kept
// here, unless they can be collected.
func (x *runtime) assembly(mem target.Memory, module uint64) *assembly {
	x.mu.Lock()
	a := x.assemblies[module]
	x.mu.Unlock()
	if a != nil {
		return a
	}
	a = &assembly{}
	in := inMemory{x.modules.MemoryOr(mem), x.vm.Image(mem, module)}
	pe, err := ecma335.OpenAssembly(in, in.Mapped)
	if in.Base == 0 {
		if b := x.file(in.Path, mostAssembly); b != nil && (in.Mapped || len(b) == int(in.Size)) {
			pe, err = ecma335.OpenAssembly(bytes.NewReader(b), false)
			a.guess = true
		}
	}
	if err == nil {
		a.code = pe
		if a.names, err = pe.Metadata(); err == nil {
			a.lines = pe.Lines(in.Path, x.file)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.assemblies) < mostAssemblies {
		x.assemblies[module] = a
	}
	return a
}
