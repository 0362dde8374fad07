package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language/internal/headers"
)

// TestHeaders compares the layout of this machine's PHP with its headers. Builds for threads have
// the same one.
func TestHeaders(t *testing.T) {
	gdbtest.Later(t, "php")
	out, err := exec.Command(gdbtest.Tool(t, "php-config"), "--include-dir").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	modules, err := os.ReadFile(filepath.Join(dir, "Zend", "zend_modules.h"))
	if err != nil {
		t.Fatal(err)
	}
	api := regexp.MustCompile(`ZEND_MODULE_API_NO (\d+)`).FindSubmatch(modules)
	if api == nil {
		t.Fatal("the headers have no ZEND_MODULE_API_NO")
	}
	want, err := os.ReadFile(fmt.Sprintf("../layouts/%s.txt", api[1]))
	if err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("no table has the layout of this machine's PHP: its API is %s", api[1]))
	}
	for _, flags := range [][]string{nil, {"-D", "ZTS=1"}} {
		var got bytes.Buffer
		if err := run(&got, append(flags, dir)); err != nil {
			t.Fatal(err)
		}
		if differ := headers.Differ(got.String(), string(want)); len(differ) > 0 {
			t.Errorf("%q: these lines are only in the layout, or only in what the headers have:\n%s", flags, strings.Join(differ, "\n"))
		}
	}
}
