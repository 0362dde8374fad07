//go:build amd64 || arm64

package dlv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// mixedPython is a program whose function handle runs in a callback of C's. It prints its frames,
// the innermost first, as Python itself knows them.
const mixedPython = `import functools, json, sys, traceback

def handle(request):
    print("ready\n" + json.dumps([[f.name, f.lineno] for f in reversed(traceback.extract_stack())]), flush=True)
    sys.stdin.read()

def serve(a, b):
    handle("r1")

def main():
    functools.reduce(serve, [1, 2])

main()
`

// TestDlvPython has the real dlv show the stack of a Python program: its functions, with their
// lines and variables, among C's.
func TestDlvPython(t *testing.T) {
	gdbtest.Later(t, "python3")
	script := filepath.Join(t.TempDir(), "mixed.py")
	if err := os.WriteFile(script, []byte(mixedPython), 0o600); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "python3"), script)
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var told [][2]any
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatal(err)
	}
	told[0][1] = 5.0 // it has gone on to the next line
	var want []string
	for _, f := range told {
		want = append(want, f[0].(string)+" "+strconv.Itoa(int(f[1].(float64))))
	}
	inRead := regexp.MustCompile(`(?s)\bread\b.* in handle \[python\]`)
	var out string
	cmd := func(all ...string) string {
		server, addr := startDlv(t, append([]string{"attach", strconv.Itoa(p.PID)}, all...)...)
		out := dlvConnect(t, addr, "stack 200", "exit -d")
		if err := server.Wait(); err != nil {
			t.Error(err)
		}
		return out
	}
	gdbtest.Await(t, "it reads", func() bool { out = cmd(); return inRead.MatchString(out) })
	var got []string
	for _, m := range regexp.MustCompile(`(?m) in (.*) \[python\]\n +at (.*):(\d+)$`).FindAllStringSubmatch(out, -1) {
		if m[2] != script {
			t.Errorf("%s in %s, want %s", m[1], m[2], script)
		}
		got = append(got, m[1]+" "+m[3])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q:\n%s", got, want, out)
	}
	if strings.Contains(out, "EvalFrame") {
		t.Errorf("the evaluator is not hidden:\n%s", out)
	}
	if all := cmd("--all-frames"); strings.Count(all, " in ") <= strings.Count(out, " in ") {
		t.Errorf("--all-frames shows no more frames:\n%s", all)
	}
	server, addr := startDlv(t, "attach", strconv.Itoa(p.PID))
	level := regexp.MustCompile(`(?m)^ *(\d+) .* in handle \[python\]$`).FindStringSubmatch(out)[1]
	out = dlvConnect(t, addr, "frame "+level+" args", "frame "+level+" list", "exit -d")
	if !strings.Contains(out, "request = 'r1'\n") || !regexp.MustCompile(`=> *5:\s+sys\.stdin\.read\(\)`).MatchString(out) {
		t.Errorf("no argument, or no source:\n%s", out)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
