package short_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/command/short"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// Whatever a name is, it gets no longer, and it stays text.
func FuzzName(f *testing.F) {
	for _, name := range []string{
		"std::map<int, std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::less<int>, std::allocator<std::pair<int const, int> > >::operator[](int&&)",
		"void std::__introsort_loop<int*, __gnu_cxx::__ops::_Iter_comp_iter<main::{lambda(int, int)#1}> >(int*, int*) [clone .isra.0]",
		"<alloc::vec::Vec<T, alloc::alloc::Global> as core::ops::drop::Drop>::drop",
		"core::iter::adapters::map::{impl#2}::fold<i32, core::ops::range::Range<i32>, app[0123456789abcdef]::main::{closure#2}>",
		"A<(1<<3), (b > c), '<', \"<\">::operator->*(A<B<C<D<E<F<G<1> > > > > > >) const &",
		strings.Repeat("f<", 120) + strings.Repeat(">", 120),
	} {
		f.Add(name, true)
		f.Add(name, false)
	}
	f.Fuzz(func(t *testing.T, name string, bare bool) {
		bounds.Hold(t, 1<<20+2000*len(name), func() {
			for _, file := range []string{"", "library/core/src/a.rs", "/usr/include/c++/12/vector"} {
				got := new(short.Names).Of(name, file, bare)
				if len(got) > len(name) || utf8.ValidString(name) && !utf8.ValidString(got) || name != "" && got == "" {
					t.Errorf("%q is %q", name, got)
				}
			}
			short.KindOf(name, "", "")
		})
	})
}
