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
// Error.stack says; so have the ones that are inlined.
func TestWasm(t *testing.T) {
	for _, script := range [][]string{{"wasm.js"}, {"wasmnamed.js"}, {"wasmnamed.js", "shop"}, {"wasminlined.js"}, {"wasminlined.js", "second"}} {
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
		for _, name := range []string{"wasm-inlining", "experimental-wasm-inlining"} {
			if out, err := exec.Command(node, "--v8-options").Output(); err == nil && bytes.Contains(out, []byte("--"+name+" ")) {
				optimized = append(optimized, "--"+name)
			}
		}
		for _, flags := range [][]string{{"--liftoff"}, optimized} {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), flags), func(t *testing.T) {
				inlined := testWasmFrames(t, node, append(flags, script...), nil)
				first, err := exec.Command(node, "-p", "process.versions.v8").Output()
				if err != nil {
					t.Fatal(err)
				}
				if inlined == 0 && filepath.Base(path) == "wasminlined.js" && len(flags) > 1 && !strings.HasPrefix(string(first), "10.") {
					t.Error("nothing is inlined")
				}
			})
		}
	}
}

// TestDenoWasm is TestWasm of Deno. It writes stacks itself: without names of modules, and with
// other indexes.
func TestDenoWasm(t *testing.T) {
	says := func(f *frame) {
		if strings.HasPrefix(f.file, "wasm-function") {
			f.function, f.file = strings.TrimPrefix(f.function, "shop."), "wasm-function[0]"
		}
	}
	script := forDeno(t, "wasminlined.js")
	for _, deno := range denos(t) {
		out, err := exec.Command(deno, "--version").Output()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(out), "deno 2.0.") || strings.Contains(string(out), "deno 2.1.") {
			continue // it writes such stacks in a form of its own, and V8's flag has another name
		}
		for _, flags := range [][]string{{"--liftoff"}, {"--no-liftoff", "--wasm-inlining"}} {
			t.Run(fmt.Sprint(strings.TrimPrefix(deno, "/"), flags), func(t *testing.T) {
				if inlined := testWasmFrames(t, deno, append(denoArguments(flags), script, "second"), says); inlined == 0 && len(flags) > 1 {
					t.Error("nothing is inlined")
				}
			})
		}
	}
}

// testWasmFrames starts a program that prints its stack. It returns how many frames were inlined.
// says makes a frame like the ones that the program prints.
func testWasmFrames(t *testing.T, program string, args []string, says func(f *frame)) (inlined int) {
	p := gdbtest.StartRunning(t, program, args...)
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
	for i, f := range want {
		if strings.HasPrefix(f.file, "wasm://") { // Deno up to 2.6 writes a place in the module
			want[i] = frame{function: f.function, file: "wasm-function[0]"}
		}
	}
	d := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID]
	got, _ := shown(d)
	for i, f := range got {
		if of, is := strings.CutSuffix(f.file, ", inlined"); is {
			got[i].file = of
			inlined++
		}
		if says != nil {
			says(&got[i])
		}
	}
	if i := slices.IndexFunc(got, func(f frame) bool { return f.function == "Atomics.wait" }); i < 0 || !same(got[i+1:], want) {
		t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
	}
	if len(d.Warnings()) > 0 {
		t.Errorf("%q", d.Warnings())
	}
	return inlined
}
