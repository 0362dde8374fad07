package short_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/short"
)

func TestNames(t *testing.T) {
	const str = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	for _, test := range []struct {
		name, file string
		bare       bool
		want       string
	}{
		{name: "main", want: "main"},
		{name: "hang(char const*)", want: "hang(char const*)"},
		{name: "hang(char const*)", bare: true, want: "hang"},
		{name: "std::vector<int, std::allocator<int> >::push_back", want: "std::vector<int>::push_back"},
		{name: "std::vector<" + str + ", std::allocator<" + str + " > >::push_back(" + str + "&&)", want: "std::vector<std::string>::push_back(std::string&&)"},
		{name: "std::__1::vector<std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>, std::__1::allocator<std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>>>::push_back[abi:ne200000]", want: "std::vector<std::string>::push_back"},
		{name: "std::map<" + str + ", int, std::less<" + str + " >, std::allocator<std::pair<" + str + " const, int> > >::operator[](" + str + "&&)", bare: true, want: "std::map<std::string, int>::operator[]"},
		{name: "std::map<int, int, std::greater<int>, std::allocator<std::pair<int const, int> > >::at", want: "std::map<int, int, std::greater<int>>::at"},
		{name: "std::vector<int, app::Pool<int> >::push_back", want: "std::vector<int, app::Pool<int>>::push_back"},
		{name: "std::unordered_map<H, int, std::hash<H>, std::equal_to<H>, std::allocator<std::pair<const H, int> > >::operator[]", want: "std::unordered_map<H, int>::operator[]"},
		{name: "std::basic_ostream<char, std::char_traits<char> >& std::endl<char, std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&)", want: "std::endl<char, std::char_traits<char>>(std::ostream&)"},
		{name: "my::vector<int, std::allocator<int> >::at", want: "my::vector<int, std::allocator<int>>::at"},
		{name: "void app::work<app::Job<int> >(int)", bare: true, want: "app::work<app::Job<int>>"},
		{name: "operator<< <int>", want: "operator<< <int>"},
		{name: "bool operator< <int>(Box<int> const&, Box<int> const&)", bare: true, want: "operator< <int>"},
		{name: "A::operator unsigned long(void) const", want: "A::operator unsigned long() const"},
		{name: "A<(char)60, '<'>::f(void)", want: "A<(char)60, '<'>::f()"},
		{name: "main()::<lambda()>::<lambda(int, int)>", want: "main()::<lambda()>::<lambda(int, int)>"},
		{name: "main::{lambda()#5}::operator()() const", want: "main::{lambda()#5}::operator()() const"},
		{name: "(anonymous namespace)::work(std::vector<int, std::allocator<int> >)", bare: true, want: "(anonymous namespace)::work"},
		{name: "non-virtual thunk to A::f(int)", want: "non-virtual thunk to A::f(int)"},
		{name: "std::filesystem::__cxx11::path::operator/=", want: "std::filesystem::path::operator/="},
		{name: "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main()::<lambda()> > > >::_M_run(void)", bare: true, want: "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main()::<lambda()>>>>::_M_run"},
		{name: "std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long int, __gnu_cxx::__ops::_Iter_comp_iter<main()::<lambda()>::<lambda(int, int)> > >(__gnu_cxx::__normal_iterator<int*, std::vector<int, std::allocator<int> > >, long int)", bare: true,
			want: "std::__introsort_loop<__gnu_cxx::__normal_iterator<…>, long int, …>"},

		{name: "<alloc::vec::Vec<T, alloc::alloc::Global> as core::ops::drop::Drop>::drop", want: "<Vec<T> as Drop>::drop"},
		{name: "alloc::vec::Vec<u8, alloc::alloc::Global>::push<u8, alloc::alloc::Global>", file: "library/alloc/src/vec/mod.rs", want: "alloc::vec::Vec<u8>::push<u8>"},
		{name: "core::ops::function::FnOnce::call_once<app::main::{closure#1}::{closure_env#0}, (i32)>", want: "core::ops::function::FnOnce::call_once<app::main::{closure#1}::{closure_env#0}, (i32)>"},
		{name: "std::panic::catch_unwind<&(dyn core::ops::function::Fn<(), Output=i32> + core::marker::Sync + core::panic::unwind_safe::RefUnwindSafe), i32>", file: "library/std/src/panic.rs", want: "std::panic::catch_unwind<&(dyn Fn<(), Output=i32> + Sync + RefUnwindSafe), i32>"},
		{name: "<app[8f3b1c0a5d2e4f67]::Key as core[1f3b1c0a5d2e4f67]::cmp::Ord>::cmp", want: "<app::Key as Ord>::cmp"},
		{name: "app::f<std::collections::hash::map::HashMap<i32, alloc::string::String, std::hash::random::RandomState>>", file: "src/main.rs", want: "app::f<HashMap<i32, String>>"},

		{name: "main.Map[go.shape.int,go.shape.string].Get", file: "/src/main.go", want: "main.Map[go.shape.int,go.shape.string].Get"},
		{name: "a(((", want: "a((("},
		{name: "a>b", want: "a>b"},
		{name: "", want: ""},
	} {
		if got := new(short.Names).Of(test.name, test.file, test.bare); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}
