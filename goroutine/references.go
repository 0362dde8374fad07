package goroutine

import (
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
)

// maxReferring bounds the code of a function that is searched for references, in bytes.
const maxReferring = 64 << 10

// references yields the addresses of data to which the functions with the given names refer. It
// yields each once, in the order of names, then of the function's code.
func references(m *target.Module, a *arch.Arch, functions map[string]gopclntab.Func, names []string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		_, bias, err := goruntime.Table(m)
		im, _, why := m.Image()
		if err != nil || why != nil || a.References == nil {
			return
		}
		seen := map[uint64]bool{}
		for _, name := range names {
			f, ok := functions[name]
			if !ok || f.Hi <= f.Lo {
				continue
			}
			code := make([]byte, min(f.Hi-f.Lo, maxReferring))
			code = code[:im.ReadLoaded(f.Lo, code)]
			for _, at := range a.References(code, f.Lo+bias) {
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
