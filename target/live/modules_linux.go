//go:build amd64 || arm64 || s390x

package live

import (
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// modules makes modules of the files that have code mapped, and of the vDSO.
func (f *files) modules(maps []procmaps.Mapping) *target.Modules {
	return procmaps.Modules(maps, func(at *procmaps.File) *target.Module {
		return target.NewModule(at.Path, at.Mappings, func() (*target.Image, error) {
			if at.IsVDSO() {
				return target.MemoryImage(f.memory, at.Lo, at.Hi-at.Lo)
			}
			return f.image(at)
		})
	})
}
