package stacks_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestPrintPage runs every command with --print of docs/values.md, of which the program's source
// tells the values.
func TestPrintPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/values.md")
	if err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, valuetest.BuildExpressions(t))
	pid := strconv.Itoa(p.PID)
	saved := filepath.Join(t.TempDir(), "saved")
	if _, stderr, err := commandtest.Execute(stacks.NewAttach(nil), pid, "--save", saved, "--print", "req->url", "--print", "counter"); err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	wants := map[string]string{
		"url": `"/index.html"`, "headers@1": `{{name = 0x`, "code": "req->code / 100 == 4 = 1", "table": "{30, 40}", "inside": "= 314", "opaque": "= (struct header *) 0x",
		"unseen": "= 55", "calls": "leaf::calls = 3", "$sp": "$sp = (void *) 0x", "counter": `"expression":"counter","type":"int","value":"41"`,
	}
	n := 0
	for _, m := range regexp.MustCompile(`(?m)^    sfwalk (\w+) (\S+) (--print .*)$`).FindAllStringSubmatch(string(page), -1) {
		n++
		var args []string
		for _, q := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^ ]+`).FindAllString(m[3], -1) {
			if q[0] == '\'' || q[0] == '"' {
				q = q[1 : len(q)-1]
			}
			args = append(args, q)
		}
		cmd, target := stacks.NewAttach(nil), pid
		switch m[1] {
		case "core":
			cmd, target = stacks.NewCore(nil), saved
		case "open":
			cmd, target = stacks.NewOpen(nil), saved
		}
		stdout, stderr, err := commandtest.Execute(cmd, append([]string{target}, args...)...)
		if err != nil {
			t.Errorf("%s: %v %s", m[0], err, stderr)
		}
		for text, want := range wants {
			if strings.Contains(m[3], text) && !strings.Contains(stdout, want) {
				t.Errorf("%s: %s, want %s", m[0], stdout, want)
			}
		}
	}
	if n < 7 {
		t.Errorf("the page has %d commands", n)
	}
}

// TestPrintNowhere: frames without the names of an expression are left out, and an expression that
// has a value in none is an error.
func TestPrintNowhere(t *testing.T) {
	p := gdbtest.Start(t, valuetest.BuildExpressions(t))
	pid := strconv.Itoa(p.PID)
	stdout, _, err := commandtest.Execute(stacks.NewAttach(nil), pid, "--print", "depth")
	if got := strings.Count(stdout, "        depth = "); err != nil || got != 3 || strings.Contains(stdout, "error") {
		t.Errorf("depth is in %d frames, want 3: %v\n%s", got, err, stdout)
	}
	stdout, _, err = commandtest.Execute(stacks.NewAttach(nil), pid, "--print", "depth", "--frame", "leaf", "--frame", "handle_request")
	if got := strings.Count(stdout, "        depth = "); err != nil || got != 3 || strings.Contains(stdout, "error") {
		t.Errorf("%v\n%s", err, stdout)
	}
	// Thread-local variables, also of libraries without debug information of them.
	stdout, _, err = commandtest.Execute(stacks.NewAttach(nil), pid, "--frame", "leaf", "--print", "per_thread", "--print", "(long) &per_thread % 4")
	if err != nil || !strings.Contains(stdout, "per_thread = 78\n") {
		t.Errorf("%v\n%s", err, stdout)
	}
	for text, want := range map[string]string{
		"nothing + 1":       `--print nothing + 1: No symbol "nothing" in current context at column 1`,
		"req->ulr":          "--print req->ulr: There is no member named ulr at column 6",
		"req->":             "--print req->: a name is missing at column 6",
		"1 +":               "--print 1 +: an expression is missing at column 4",
		"counter = 5":       "--print counter = 5: an expression cannot assign at column 9",
		"handle_request(1)": "--print handle_request(1): the function takes 2 arguments, not 1 at column 1",
		"1 / (2 - 2)":       "--print 1 / (2 - 2): Division by zero at column 3",
		"(struct no *) 1":   "--print (struct no *) 1: No struct type named no at column 2",
		"*(int *) 8":        "--print *(int *) 8: Cannot access memory at address 0x8",
		"$xyz":              "--print $xyz: no register is called $xyz at column 1",
		"counter @@ 2":      "--print counter @@ 2: an expression is missing at column 10",
	} {
		_, _, err := commandtest.Execute(stacks.NewAttach(nil), pid, "--print", text)
		malformed := strings.Contains(want, " is missing at ") || strings.Contains(want, "cannot assign") // which is found before the process is touched
		if err == nil || err.Error() != want || errors.As(err, new(exit.Usage)) != malformed || errors.Is(err, exit.ErrEarly) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPrintWrongCall: where an expression may call, the error of a call points at the character.
func TestPrintWrongCall(t *testing.T) {
	gdbtest.NeedAMD64(t)
	source := gdbtest.Testdata(t, "progs", "expressions", "casts.cc")
	p := gdbtest.Start(t, gdbtest.Compile(t, source, gdbtest.Tool(t, "g++"), "-static", "-g", "-O0", "-w"))
	const want = "the function takes 1 argument, not 0 at column 7"
	_, _, err := commandtest.Execute(stacks.NewAttach(nil), strconv.Itoa(p.PID), "--frame", "main", "--print", "outer.plus()")
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
