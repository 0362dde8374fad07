package value_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Expressions of Rust have the values that gdb prints, in frames of four functions of values.rs.
func TestPrintRust(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	p := startRust(t, "values.rs")
	levels, same := printedAsGDB(t, p, map[string][]string{
		"values::scalars": {
			"small", "small as i32", "signed as u8", "small + 1", "signed * 2", "!truth", "truth && false", "letter", "bits.integer", "bits.float",
			"range.start", "range.end - range.start", "range", "*reference", "local == 7", "float as f64", "double", "small > 100", "small == 200 || truth",
			"huge", "wide", "signed as i64", "-signed", "small & 0xf", "small << 1", "small >> 1", "small % 7", "small ^ 1", "small | 1", "10u8", "1_000", "0x10",
			"1.5", "2.5f64", "true", "newline", "&local", "*pointer", "sizeof(small)", "euro as u32", "inclusive.start", "unit", "ordering", "COUNTER", "values::COUNTER",
			"small.x", "nonexistent",
			"1..3", "..3", "2..", "..", "1..=3", "..=3", "range.start..range.end", "(1..3)", "1..3.5", "1.5..2.5", "'a'..'z'", "true..false", "sizeof(1..3)", "sizeof(..)",
			"(1..3).start", "(0..9).end + 1", "range.start..9", "1..range", "1..3u64", "1i64..2i64", "-1..1", "1 .. 3", "1u8..3", "(..).start",
		},
		"values::enums": {"rectangle.width", "rectangle.height", "rectangle", "circle.0", "colours", "colours[1]", "*by_reference", "tree", "tree.1", "empty", "shape", "colours[5]"},
		"values::containers": {
			"pair", "pair.0", "pair.1", "tuple", "tuple.0", "tuple.3", "generic.many[1]", "generic.value", "slice[0]", "slice", "array[1][2]", "array[0]",
			"*boxed", "duration", "generic", "array[1][0] + 3", "&pair", "tuple.1", "cell", "slice.length", "slice.data_ptr",
		},
		"values::Pair::method": {"*self", "by", "by as u64", "(*self).0", "counter", "&counter"},
	})
	if t.Logf("%d values are gdb's", same); same < 75 {
		t.Error("too few values")
	}
	// What gdb refuses: it calls the program's functions for a range, and follows no reference to a
	// member.
	checkPrinted(t, p, levels["values::containers"], map[string]string{"slice[..1]": "[-1]", "array[0..2]": "[[1, 2, 3], [4, 5, 6]]", "array[1..]": "[[4, 5, 6]]", "(&pair).0": "1"})
}

// Paths of Rust that begin with self, super or "::", casts, and what counted pointers point to have
// gdb's values, too.
func TestPrintPathsOfRust(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	p := startRust(t, "paths.rs")
	levels, same := printedAsGDB(t, p, map[string][]string{
		"paths::outer::inner::paths": {
			"TOP", "DEEP", "super::MIDDLE", "self::TOP", "self::DEEP", "::TOP", "paths::TOP", "paths::outer::MIDDLE", "paths::outer::inner::TOP", "held", "held.number",
			"own as super::Held", "sizeof(super::Held)", "*(&held as *const super::Held)", "own as f32", "own as bool", "65u8 as char", "own as usize",
		},
		"paths::counted": {
			"self::outer::MIDDLE", "super::TOP", "::TOP", "one", "two", "shared", "simple", "boxed", "boxed[1]", "boxed[7]", "part", "part[1]", "numbers", "&numbers",
			"float as f64", "float as i32", "wide as f64", "wide as u8", "97 as char", "letter as char", "letter as u32", "&letter", "true as u64", "-1i8 as u32",
			"*(&numbers as *const u16)", "&numbers[1] as *const i32", "one.ptr", "weak.ptr", "simple.value", "boxed.length", "float + 1", "text.vec",
		},
	})
	if t.Logf("%d values are gdb's", same); same < 45 {
		t.Error("too few values")
	}
	// What gdb 13 lacks: it knows no crate, and no more than one super; it follows no counted
	// pointers, and has no numbers of 128 bits.
	checkPrinted(t, p, levels["paths::outer::inner::paths"], map[string]string{
		"crate::TOP": "11", "crate::outer::MIDDLE": "22", "super::super::TOP": "11", "*(&held as *const crate::outer::Held)": "paths::outer::Held {number: 7}",
		"::paths::TOP": "11", "own as i128": "1",
	})
	checkPrinted(t, p, levels["paths::counted"], map[string]string{"*one": "5", "*two + 1": "6", "shared.number": "9", "*shared": "paths::outer::Held {number: 9}"})
}

// startRust starts a program of Rust.
func startRust(t *testing.T, source string) *gdbtest.Process {
	t.Helper()
	return gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", source), gdbtest.Tool(t, "rustc"), "--edition=2021", "-g"))
}
