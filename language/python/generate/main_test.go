package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language/internal/headers"
)

// TestHeaders compares the layouts with the headers of the Pythons of this machine: the layouts of
// one minor release hold for all of its patch releases, and for all builds.
func TestHeaders(t *testing.T) {
	gdbtest.Tool(t, "python3")
	checked := 0
	for _, name := range []string{"python3", "python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "python3.15", "python3.13t", "python3.14t", "python3.15t"} {
		const ask = `import sys, sysconfig
p = sysconfig.get_paths()
print("3.%d%s" % (sys.version_info[1], "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""), p["include"], p["platinclude"])`
		out, err := exec.Command(name, "-c", ask).Output()
		if err != nil {
			continue // not installed, or not chosen by pyenv
		}
		words := strings.Fields(string(out))
		want, err := os.ReadFile("../layouts/" + words[0] + ".txt")
		if err != nil {
			continue // a release without a table
		}
		if _, err := os.Stat(filepath.Join(words[1], "internal", "pycore_object.h")); err != nil {
			continue
		}
		args := []string{"-I", words[1], "-I", words[2]}
		if strings.HasSuffix(words[0], "t") {
			args = append(args, "-D", "Py_GIL_DISABLED=1")
		}
		var got bytes.Buffer
		if err := run(&got, args); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checked++
		if differ := differ(got.String(), string(want)); len(differ) > 0 {
			t.Errorf("%s: these lines are only in the layout, or only in what its headers have:\n%s", name, strings.Join(differ, "\n"))
		}
	}
	if checked == 0 {
		gdbtest.Cannot(t, "no Python has its headers (python3-dev)")
	}
}

// differ returns the lines that are in one of two layouts alone, but for a size: patch releases add
// fields behind the ones that matter.
func differ(a, b string) []string {
	return slices.DeleteFunc(headers.Differ(a, b), func(line string) bool { return strings.HasPrefix(line, "thread_state.size ") })
}
