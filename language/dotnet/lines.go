package dotnet

import (
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/ecma335"
	"github.com/sfwalk/sfwalk/target"
)

// mostPDB bounds a file with lines, bytes. It is read as a whole, for it is opened for a moment.
const mostPDB = 64 << 20

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

// linesOf returns the lines of an assembly: what it has within, or what is in a file beside its
// own, or where the compiler has written that. nil stands for none.
func (x *runtime) linesOf(pe *ecma335.Assembly, file string) *ecma335.Metadata {
	d, ok := pe.Debug()
	if !ok {
		return nil
	}
	if d.Embedded != nil {
		return opened(d.Embedded, &d)
	}
	var names []string
	if path.IsAbs(file) {
		names = append(names, strings.TrimSuffix(file, path.Ext(file))+".pdb")
		if d.Path != "" {
			names = append(names, path.Join(path.Dir(file), path.Base(strings.ReplaceAll(d.Path, `\`, "/"))))
		}
	}
	names = append(names, d.Path)
	for _, name := range names {
		if lines := opened(x.file(name, mostPDB), &d); lines != nil {
			return lines
		}
	}
	return nil
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

// opened opens the lines in b, if they are of the assembly that has d; else it returns nil.
func opened(b []byte, d *ecma335.Debug) *ecma335.Metadata {
	lines, err := ecma335.Open(bytes.NewReader(b), 0)
	if err != nil || lines.ID() != d.ID {
		return nil
	}
	return lines
}
