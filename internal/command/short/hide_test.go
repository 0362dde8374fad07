package short_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/short"
)

// Without lines, a frame is the library's only if nothing of the program's can be inlined into it.
func TestKindOf(t *testing.T) {
	const program, library = "/srv/app/server", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33"
	for _, test := range []struct {
		function, file, module string
		want                   short.Kind
	}{
		{"main", "", program, short.Program},
		{"start_thread", "./nptl/pthread_create.c", "/lib/libc.so.6", short.Starts},
		{"", "", library, short.Library},
		{"libstdc++.so.6.0.33!fn_d44a3", "", library, short.Library},
		{"std::thread::join()", "", program, short.Library},
		{"std::vector<int, std::allocator<int> >::_M_realloc_insert(int*, int&&)", "", program, short.Library},
		{"std::hash<Key>::operator()(Key const&) const", "", program, short.Program},
		{"std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()", "", program, short.Program},
		{"void std::__invoke_impl<void, void (*)()>(std::__invoke_other, void (*&&)())", "", program, short.Program},
		{"std::swap(app::Key&, app::Key&)", "", program, short.Program},
		{"std::thread::JoinHandle<()>::join", "", program, short.Program},
		{"std::__invoke_impl<void, main()::<lambda()> >", "/usr/include/c++/14/bits/invoke.h", program, short.Library},
		{"std::__1::__invoke", "/usr/lib/llvm-14/bin/../include/c++/v1/type_traits", program, short.Library},
		{"std::hash<Key>::operator()", "/srv/app/key.cc", program, short.Program},
		{"app::run", "/home/me/src/c++/14/run.cc", program, short.Program},
		{"std::_Func_impl_no_alloc<lambda,void>::_Do_call", `C:\VS\VC\Tools\MSVC\14.40.33807\include\functional`, program, short.Library},
		{"core::ops::function::FnOnce::call_once<fn(), ()>", "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/function.rs", program, short.Library},
		{"std::rt::lang_start<()>", "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/rt.rs", program, short.Begins},
		{"core::ops::function::FnOnce::call_once{{vtable.shim}}", "", program, short.Program},
		{"app::main::{closure#0}", "src/main.rs", program, short.Program},
		{"library::read", "library/reader/src/lib.rs", program, short.Program},
		{"hashbrown::map::HashMap<K,V>::insert", "/rust/deps/hashbrown-0.16.1/src/map.rs", program, short.Library},
		{"hashbrown::map::HashMap<K,V>::insert", "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/hashbrown-0.16.1/src/map.rs", program, short.Program},
	} {
		if got := short.KindOf(test.function, test.file, test.module); got != test.want {
			t.Errorf("%s at %s: %d, want %d", test.function, test.file, got, test.want)
		}
	}
}
