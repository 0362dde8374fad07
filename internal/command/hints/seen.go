package hints

import (
	"path"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/target"
)

// Seen notes what frames tell. It is safe for concurrent use. Its zero value is ready for use.
type Seen struct {
	mu      sync.Mutex
	modules map[*target.Module]*module
	made    int // places in code that was made at run time and has no name
	named   int // places in code that was made at run time and has one
}

// module is what was seen of one file of code.
type module struct {
	of      *target.Module
	unnamed int  // places in functions without a name
	evals   bool // the function that interprets was there
}

// maxModules bounds the files of which something is kept.
const maxModules = 1 << 10

// Add notes a place in code: its file, nil if the code is in no file, and its function, "" if that
// has no name. Call it once for each place.
func (s *Seen) Add(m *target.Module, function string) {
	unnamed := function == "" || madeUp(function)
	base := ""
	if m != nil {
		base = path.Base(m.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m == nil || inNoFile(m.Path) {
		if unnamed {
			s.made++
		} else {
			s.named++
		}
		return
	}
	evals := !unnamed && evaluates(base, function)
	if !unnamed && !evals {
		return
	}
	of := s.modules[m]
	if of == nil {
		if len(s.modules) == maxModules {
			return
		}
		if s.modules == nil {
			s.modules = map[*target.Module]*module{}
		}
		of = &module{of: m}
		s.modules[m] = of
	}
	of.evals = of.evals || evals
	if unnamed {
		of.unnamed++
	}
}

// madeUp reports whether a name stands for one that is not known: "libc.so.6!fn_9a6c0".
func madeUp(function string) bool { return strings.Contains(function, "!fn_") }

// inNoFile reports whether a mapping that has this name holds code that was made at run time.
func inNoFile(name string) bool {
	return name == "" || name == "/dev/zero" || name == "[heap]" || name == "[stack]" ||
		strings.HasPrefix(name, "[anon") || strings.HasPrefix(name, "//anon") || strings.HasPrefix(name, "/memfd:") ||
		strings.HasPrefix(name, "/dev/zero ") || strings.HasPrefix(name, "/SYSV")
}
