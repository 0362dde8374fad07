package v8_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/v8"
)

// TestWasm: functions of WebAssembly, of both compilers', have the indexes and names that
// Error.stack says.
func TestWasm(t *testing.T) {
	for _, script := range [][]string{{"wasm.js"}, {"wasmnamed.js"}, {"wasmnamed.js", "shop"}} {
		t.Run(strings.Join(script, " "), func(t *testing.T) { testWasm(t, script) })
	}
}

func testWasm(t *testing.T, script []string) {
	path, err := filepath.Abs(filepath.Join("testdata", script[0]))
	if err != nil {
		t.Fatal(err)
	}
	script = append([]string{path}, script[1:]...)
	for _, node := range nodes(t) {
		optimized := []string{"--no-liftoff"}
		for _, name := range []string{"wasm-inlining", "experimental-wasm-inlining"} { // what is inlined is not shown
			if out, err := exec.Command(node, "--v8-options").Output(); err == nil && bytes.Contains(out, []byte("--"+name+" ")) {
				optimized = append(optimized, "--no-"+name)
			}
		}
		for _, flags := range [][]string{{"--liftoff"}, optimized} {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), flags), func(t *testing.T) {
				p := gdbtest.StartRunning(t, node, append(flags, script...)...)
				line, err := p.Stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				var stack string
				if err := json.Unmarshal([]byte(line), &stack); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				p.Rest(t)
				want := framesOf(t, stack)
				d := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID]
				got, _ := shown(d)
				if i := slices.IndexFunc(got, func(f frame) bool { return f.function == "Atomics.wait" }); i < 0 || !same(got[i+1:], want) {
					t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
				}
				if len(d.Warnings()) > 0 {
					t.Errorf("%q", d.Warnings())
				}
			})
		}
	}
}
