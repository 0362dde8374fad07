package value_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestOtherLibrary shows objects of classes that have the names of the C++ libraries' classes, and
// not their members. Where members lack, or an object contains nothing but itself, it is shown as
// any struct is: gdb without printers tells the text. Where members say more than there is, the
// text ends with the reason.
func TestOtherLibrary(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "otherlibrary.cc", "-g", "-O0", "-std=c++17"))
	own, _ := locals(t, attach(t, p.PID), pretty)
	in := func(threads []gdbtest.FullThread, name string) []gdbtest.FullLocal {
		frames := threads[0].Frames
		i := slices.IndexFunc(frames, func(f gdbtest.FullFrame) bool { return f.Function == name })
		if i < 0 {
			t.Fatalf("no frame of %s: %v", name, frames)
		}
		return frames[i].Locals
	}
	want := in(valuetest.Parse(t, gdbtest.Full(t, p.PID, "")), "lacking")
	if got := in(own, "lacking"); len(got) != 10 || !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
	wants := map[string]string{
		"down":  `std::map with 1152921504606846976 elements<error reading variable: the container's nodes form a loop>`,
		"above": `std::map with 1152921504606846976 elements = \{(\[3\] = 4, ){99}\[3\] = 4\.\.\.\}`,
		"text":  `"abc"\.\.\.<error: Cannot access memory at address 0x[0-9a-f]+000>`,
	}
	for _, l := range in(own, "excessive") {
		if want, ok := wants[l.Name]; ok && !regexp.MustCompile("^"+want+"$").MatchString(l.Text) {
			t.Errorf("%s = %s, want %s", l.Name, strings.ReplaceAll(l.Text, "[3] = 4, [3] = 4, ", ""), want)
		} else if ok {
			delete(wants, l.Name)
		}
	}
	if len(wants) > 0 {
		t.Errorf("not shown: %v", wants)
	}
}
