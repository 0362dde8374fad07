package dotnet

import (
	"io"
	"path"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// line fills in the source line that a frame of a method is at.
func (x *runtime) line(mem target.Memory, c *coreclr.Code, m *method, pc uint64, f *language.Frame) {
	if m.of == nil || m.of.lines == nil {
		return
	}
	if p, ok := x.vm.Place(mem, c, pc); ok {
		f.File, f.Line = m.of.lines.Line(m.row, p.IL)
		f.Guess = p.Near && f.Line != 0
	}
}

// file returns the bytes of a file that the process names; nil if it cannot be read, or has more
// than most of them.
func (x *runtime) file(name string, most int64) []byte {
	if x.modules.NamedFile == nil || !path.IsAbs(name) {
		return nil
	}
	f, err := x.modules.NamedFile(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(b)) > most {
		return nil
	}
	return b
}
