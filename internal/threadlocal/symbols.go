package threadlocal

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Each C library has one of these symbols.
var (
	glibcMark = elf.Seldom("_thread_db_pthread_dtvp")
	muslMark  = elf.Seldom(muslDebug)
)

// library looks for the C library, once.
func (f *Finder) library() {
	if f.looked {
		return
	}
	f.looked = true
	f.likely = slices.Clone(f.modules.All())
	slices.SortStableFunc(f.likely, func(a, b *target.Module) int { return likelihood(b) - likelihood(a) })
	for _, m := range f.likely {
		im, _, err := m.PeekImage()
		switch {
		case err != nil:
		case im.MayHaveSymbol(glibcMark):
			if d := (&glibc{Finder: f, fields: map[string]glibcField{}}); d.knows("pthread_dtvp", "dtv_dtv", "dtv_t_pointer_val", "link_map_l_tls_modid") {
				f.glibc = d
				return
			}
		case im.MayHaveSymbol(muslMark):
			if f.musl = len(im.Lookup(muslDebug, 1)) > 0; f.musl {
				return
			}
		}
	}
}

// likelihood says how likely a module is the C library: a process may have a thousand others, which
// need not be opened.
func likelihood(m *target.Module) int {
	name := filepath.Base(m.Path)
	for i, prefix := range [...]string{"libc.", "libc-", "ld-", "libpthread"} {
		if strings.HasPrefix(name, prefix) {
			return 4 - i
		}
	}
	return 0
}

// symbol returns the address of the C library's symbol of a name, 0 if there is none.
func (f *Finder) symbol(name string) uint64 {
	for _, m := range f.likely {
		im, bias, err := m.PeekImage()
		if err != nil {
			continue
		}
		for _, s := range im.Lookup(name, 1) {
			return s.Addr + bias
		}
	}
	return 0
}
