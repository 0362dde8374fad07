package stacks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A snapshot of Node.js has JavaScript's frames as Error.stack has told them, without the process,
// and so has a minidump that is made of it.
func TestSavedNode(t *testing.T) {
	gdbtest.Later(t, "node")
	source := filepath.Join(t.TempDir(), "waits.js")
	text := `class Server { handle(n) { return n ? this.handle(n - 1) + 1 : waits(); } }
function waits() {
  Error.stackTraceLimit = 100;
  console.log(new Error('').stack.replace(/\n/g, '|'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0);
}
console.log('ready');
new Server().handle(3);
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "node"), source)
	told, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.Rest(t)
	want := ""
	for _, m := range regexp.MustCompile(`at (?:(\w[^|(]*) \()?([^|( ]+:\d+:\d+)\)?[|\n]`).FindAllStringSubmatch(told, -1) {
		name := m[1]
		if name == "" {
			name = "<anonymous>"
		}
		want += name + " at " + m[2] + "\n"
	}
	_, want, _ = strings.Cut(want, "\n") // the innermost function waits in another line
	if strings.Count(want, "Server.handle at "+source+":1:") != 4 {
		t.Fatalf("the program has told %q", told)
	}
	file := filepath.Join(t.TempDir(), "snapshot")
	if _, warnings, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", file); err != nil {
		t.Fatalf("%v\n%s", err, warnings)
	}
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Exit(t)
	if _, warnings, err := commandtest.Run("open", file, "--save", file+".dmp", "--format", "minidump"); err != nil {
		t.Fatalf("%v\n%s", err, warnings)
	}
	for _, args := range [][]string{{"open", file}, {"minidump", file + ".dmp"}} {
		out, warnings, err := commandtest.Run(args...)
		got := ""
		for _, m := range regexp.MustCompile(`(?m)^#\d+ +(.*) \[javascript, (?:interpreted|inlined|baseline|maglev|turbofan)\]$`).FindAllStringSubmatch(out, -1) {
			got += m[1] + "\n"
		}
		if first, rest, _ := strings.Cut(got, "\n"); err != nil || first != "waits at "+source+":5:11" || rest != want {
			t.Errorf("%q: %v:\n%s\nwant, in waits,\n%s%s", args, err, got, want, warnings)
		}
	}
}
