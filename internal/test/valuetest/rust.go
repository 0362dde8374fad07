package valuetest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// BetterRust says why a value of Rust that gdb has in another way is no defect, or returns "".
func BetterRust(d gdbtest.FullDifference) string {
	switch {
	case strings.Contains(d.Want, "integers of more than 8 bytes"):
		return "gdb 13 reads no discriminants of 16 bytes"
	case strings.Contains(d.Want, "Never>::Err("):
		return "gdb takes the variant that no value has"
	case strings.Contains(d.Want, "has been optimized out"):
		return "gdb has an error for a slice that is optimized out"
	case strings.Contains(d.Want, "Inner<str>") || strings.Contains(d.Want, "Inner<[") || strings.Contains(d.Want, "Box<str>") || strings.Contains(d.Want, "Box<["):
		return "gdb has zeros for a member behind the end of its struct, as in an Rc<str>"
	case strings.Contains(d.Want, "MultiCharEqSearcher<fn(char) -> bool>") && charEq.ReplaceAllString(d.Want, "") == charEq.ReplaceAllString(d.Got, ""):
		// A function item has no size. It is described as a pointer at byte 40 of 40, and gdb takes
		// what its own memory has there.
		return "gdb reads its own memory for a member behind the end of its struct"
	case lostChannel.ReplaceAllString(d.Want, "flavor: <optimized out>") == d.Got:
		// gdb's "info address": the enumeration is in an empty piece. gdb itself has
		// SenderFlavor::List of the same closure two frames further in.
		return "gdb takes the tag of an enumeration that is optimized out for zero"
	case strings.Contains(d.Want, "Python Exception") || strings.Contains(d.Want, "Cannot perform pointer math"):
		return "the compiler's printers fail"
	case d.Name == "guard" && strings.Contains(d.Want, "RefMut<"):
		return "the compiler's printer fails"
	case strings.Contains(d.Got, "<not saved>") || strings.Contains(d.Got, "<unavailable>"):
		return "gdb takes a register that the callee need not preserve for the caller's"
	case strings.Contains(d.Want, "<synthetic pointer>"):
		return "gdb has no optimized-out parts behind the last piece"
	}
	return ""
}

// lostChannel matches the kind of a channel of which nothing is known.
var lostChannel = regexp.MustCompile(`\bflavor: std::sync::mpmc::SenderFlavor<[^{}]+>::Array\([^{}]+\{counter: <optimized out>\}\)`)

// charEq matches the function of a search in a text.
var charEq = regexp.MustCompile(`\bchar_eq: 0x[0-9a-f]+`)

// RustPrinters returns the folder with rustc's printers for gdb. They are for the standard library
// that comes with them.
func RustPrinters(t *testing.T, rustc string) string {
	t.Helper()
	said, err := exec.Command(rustc, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Others may have a printer more or less.
	if !regexp.MustCompile(`^rustc 1\.(63|85|9[0-9])\.`).Match(said) {
		gdbtest.Cannot(t, "the printers of "+string(said))
	}
	root, err := exec.Command(rustc, "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "lib", "rustlib", "etc")
}
