package php_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/php"
)

// TestValues holds arguments and local variables against what the program says of them.
func TestValues(t *testing.T) {
	gdbtest.Later(t, "php")
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "php"), filepath.Join("testdata", "values.php"))
	want := ""
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "end\n" {
			break
		}
		want += line
	}
	p.Rest(t)
	d := languagetest.Attach(t, p.PID, php.Decorator{}, func(s *language.Stack) { s.Locals = true })[p.PID]
	got, arguments := "", 0
	for _, f := range d.Frames() {
		if f.Function == "Shop\\inner" {
			arguments = len(f.Args)
			for _, v := range append(f.Args, f.Locals...) {
				got += v.Name + " " + v.Value + "\n"
			}
		}
	}
	if got != want || arguments != 4 || strings.Count(want, "\n") < 20 {
		t.Errorf("%d arguments, got:\n%s\nthe program says:\n%s", arguments, got, want)
	}
}
