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
	made    bool // there was code that was made at run time and has no name
	named   bool // there was code that was made at run time and has one
	waiting []waiter
}

// waiter is a thread that waits for a lock, or for the end of another thread.
type waiter struct {
	tid int
	end bool
}

// AddWaiting notes a thread that waits for a lock, or, with end, for the end of another thread.
func (s *Seen) AddWaiting(tid int, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, waiter{tid, end})
}

// module is what was seen of one file of code.
type module struct {
	of      *target.Module
	unnamed bool   // there were functions without a name
	at      uint64 // the first place in one
	several bool   // there were others
	evals   bool   // the function that interprets was there
	bare    bool   // there was code that no table has, either: no compiler of C or C++ has made it
}

// maxModules bounds the files of which something is kept.
const maxModules = 1 << 10

// Add notes a place in code by its address: its file, nil if the code is in no file, and its
// function, "" if that has no name.
func (s *Seen) Add(at uint64, m *target.Module, function string) {
	unnamed := function == "" || madeUp(function)
	base := ""
	if m != nil {
		base = path.Base(m.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m == nil || inNoFile(m.Path) {
		if unnamed {
			s.made = true
		} else {
			s.named = true
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
	of.bare = of.bare || function == ""
	switch {
	case unnamed && !of.unnamed:
		of.unnamed, of.at = true, at
	case unnamed && at != of.at:
		of.several = true
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
