//go:build amd64 || arm64 || s390x

package live

import (
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// modules makes modules of the files that have code mapped, and of the vDSO.
// Executable memory of no file is code, too.
func (f *files) modules(maps []procmaps.Mapping) *target.Modules {
	var list []*target.Module
	var code []target.Mapping
	for _, at := range procmaps.Files(maps) {
		if at.Code {
			list = append(list, target.NewModule(at.Path, at.Mappings, func() (*target.Image, error) {
				return f.image(at)
			}))
		}
	}
	for i := range maps {
		m := &maps[i]
		one := m.Target()
		one.Offset = 0
		switch {
		case m.IsFile():
		case m.IsVDSO():
			list = append(list, target.NewModule(m.Path, []target.Mapping{one}, func() (*target.Image, error) {
				return target.MemoryImage(f.memory, one.Lo, one.Hi-one.Lo)
			}))
		case m.Exec:
			code = append(code, one)
		}
	}
	return target.NewModules(list, code)
}
