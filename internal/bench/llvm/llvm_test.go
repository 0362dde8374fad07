//go:build linux

package llvm

import (
	"slices"
	"strings"
	"testing"
)

// TestParse reads what llvm-symbolizer 14 has printed for a program of package cplusplus, and what
// has no column.
func TestParse(t *testing.T) {
	const text = `std::_Vector_base<double, std::allocator<double> >::~_Vector_base()
/usr/include/c++/12/bits/stl_vector.h:367:15
unit3::store<3>::~store()
/tmp/unit.cc:36:24

??
??:0:0

main
/tmp/a:b/main.cc:7

`
	want := [][]Frame{
		{{"std::_Vector_base<double, std::allocator<double> >::~_Vector_base()", "/usr/include/c++/12/bits/stl_vector.h", 367},
			{"unit3::store<3>::~store()", "/tmp/unit.cc", 36}},
		{{}},
		{{"main", "/tmp/a:b/main.cc", 7}},
	}
	got, err := Parse(strings.NewReader(text))
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, %v", got, err)
	}
	if n := Lines(got); n != 3 {
		t.Errorf("%d lines", n)
	}
	for _, broken := range []string{"main\n", "main\nmain.c\n", "main\n:x\n"} {
		if _, err := Parse(strings.NewReader(broken)); err == nil {
			t.Errorf("no error for %q", broken)
		}
	}
}

func TestCompare(t *testing.T) {
	theirs := [][]Frame{
		{{"push_back", "/v.h", 5}, {"run", "/a.cc", 9}},
		{{"", "", 0}},
	}
	for _, c := range []struct {
		what string
		ours []Frame
		want Differences
	}{
		{"the same", []Frame{{"std::vector<int>::push_back", "/v.h", 5}, {"unit0::run", "/a.cc", 9}}, Differences{}},
		{"no line", []Frame{{"unit0::run", "", 0}}, Differences{None: 1}},
		{"no frame", nil, Differences{None: 1}},
		{"no inlined call", []Frame{{"unit0::run", "/a.cc", 9}}, Differences{Chain: 1}},
		{"another function", []Frame{{"std::vector<int>::push_back", "/v.h", 5}, {"unit0::rerun", "/a.cc", 9}}, Differences{Name: 1}},
		{"another line", []Frame{{"std::vector<int>::push_back", "/v.h", 5}, {"unit0::run", "/a.cc", 8}}, Differences{File: 1}},
		{"another row of the address", []Frame{{"std::vector<int>::push_back", "/v.h", 6}, {"unit0::run", "/a.cc", 9}}, Differences{}},
	} {
		got := Compare([][]Frame{c.ours, nil}, theirs, func(i int, f Frame) bool { return i == 0 && f == Frame{c.ours[0].Function, "/v.h", 6} })
		if got.None != c.want.None || got.Chain != c.want.Chain || got.Name != c.want.Name || got.File != c.want.File ||
			got.Addresses != 1 || len(got.Shown) != got.All() {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		whole, short string
		want         bool
	}{
		{"unit0::key<2>::key", "key", true},
		{"std::pair<unit0::key<2>, double>::pair<unit0::key<2>&, double, true>", "pair<unit0::key<2>&, double>", true},
		{"decltype(auto) std::__do_visit<void>(int&&)", "__do_visit<void, int>", true},
		{"std::shared_ptr<unit0::value<1> >::~shared_ptr", "~shared_ptr", true},
		{"unit0::key<2>::key", "value", false},
		{"unit0::rerun", "run", false},
		{"std::_Optional_payload<unit0::key<2>, true>::_Optional_payload_base", "_Optional_payload", true},
		{"", "run", false},
	} {
		if got := named(c.whole, c.short); got != c.want {
			t.Errorf("%q, %q: %t", c.whole, c.short, got)
		}
	}
}
