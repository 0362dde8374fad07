package procmaps

import "github.com/sfwalk/sfwalk/target"

// Writable returns the mappings that a process can read and change, ascending, and joined where
// they touch. Of mapped files it returns the modules' alone: other files may be shared, and far
// larger than the memory of the machine.
func Writable(maps []Mapping, modules *target.Modules) (list []target.Mapping) {
	for i := range maps {
		m := &maps[i]
		if !m.Read || !m.Write || m.IsFile() && modules.FindFile(m.Lo) == nil {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Hi == m.Lo {
			list[n-1].Hi = m.Hi
			continue
		}
		list = append(list, target.Mapping{Lo: m.Lo, Hi: m.Hi})
	}
	return list
}
