package calling

import (
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/goruntime"
)

// RunsGo reports whether a thread whose PC is pc runs Go code. Its stack is small then, and is
// moved when it grows: C functions cannot run on it.
func RunsGo(p inferior.Process, pc uint64) bool {
	m := p.Modules().Find(pc)
	if m == nil {
		return false
	}
	table, bias, err := goruntime.Table(m)
	if err != nil {
		return false
	}
	_, ok := table.Find(pc - bias)
	return ok
}
