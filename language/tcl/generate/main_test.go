package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language/internal/headers"
)

// TestHeaders compares the layouts with this machine's headers.
func TestHeaders(t *testing.T) {
	gdbtest.Later(t, "tclsh8.6")
	for _, release := range []string{"8.6", "9.0"} {
		dir := "/usr/include/tcl" + release
		if _, err := os.Stat(dir); err != nil && release != "8.6" {
			continue // not all releases of Debian have it
		}
		gdbtest.File(t, dir+"/tcl-private/generic/tclInt.h")
		want, err := os.ReadFile("../layouts/" + release + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := run(&got, dir); err != nil {
			t.Fatal(err)
		}
		differ := slices.DeleteFunc(headers.Differ(got.String(), string(want)), func(line string) bool {
			name, _, _ := strings.Cut(line, " ") // the first ones of 8.6 lack these
			return (name == "extra.method" || name == "extra.flags") && !strings.Contains(got.String(), name)
		})
		if len(differ) > 0 {
			t.Errorf("Tcl %s: these lines are only in the layout, or only in what the headers have:\n%s", release, strings.Join(differ, "\n"))
		}
	}
}
