package ecma335

import (
	"bytes"
	"path"
	"strings"
)

// Lines returns the portable PDB of an assembly: what it has within, or what is in a file beside
// its own, or where the compiler has written that. nil stands for none. file is the path of the
// assembly's own file, read reads a file of at most so many bytes, and returns nil if it cannot.
func (a *Assembly) Lines(file string, read func(name string, most int64) []byte) *Metadata {
	d, ok := a.Debug()
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
	for _, name := range append(names, d.Path) {
		if lines := opened(read(name, mostPDB), &d); lines != nil {
			return lines
		}
	}
	return nil
}

// opened opens the lines in b, if they are of the assembly that has d; else it returns nil.
func opened(b []byte, d *Debug) *Metadata {
	lines, err := Open(bytes.NewReader(b), 0)
	if err != nil || lines.ID() != d.ID {
		return nil
	}
	return lines
}
