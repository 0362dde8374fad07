package goroutine

import (
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/sniffer/gostack"
	"github.com/sfwalk/sfwalk/target"
)

// references yields the addresses of data that the functions refer to, each once, in the
// order of names and of their code.
func references(m *target.Module, a *arch.Arch, functions map[string]gopclntab.Func, names []string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		seen := map[uint64]bool{}
		for _, name := range names {
			f, ok := functions[name]
			if !ok {
				continue
			}
			for _, at := range gostack.References(m, a, f) {
				if at%8 != 0 || seen[at] {
					continue
				}
				seen[at] = true
				if !yield(at) {
					return
				}
			}
		}
	}
}
