package v8_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/v8"
)

// TestRegExp: code of a regular expression has the expression as its name, as the program has it.
func TestRegExp(t *testing.T) {
	script, err := filepath.Abs("testdata/regexp.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		for _, way := range []string{"test", "replace"} {
			t.Run(strings.TrimPrefix(node, "/")+" "+way, func(t *testing.T) {
				p := gdbtest.StartRunning(t, node, script, way)
				gdbtest.Await(t, "the expression is matched", func() bool {
					p.Stop(t)
					defer p.Continue(t)
					said := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID].Said
					if said == nil {
						return false
					}
					for _, place := range said.At {
						if place.Name == `RegExp /^(a+)+\/b$/gimu` {
							return true
						}
					}
					return false
				})
			})
		}
	}
}
