package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// hostileText has characters that a name should not have: C0, C1, bytes that are not UTF-8, marks
// that change the direction of text, and line separators.
const hostileText = "\x1b]0;OWNED\a\x1b[2J\r\nfake\u009b31m\u202e\x9b\xff\u2028\ufeff\x7f"

// asShown is hostileText on a terminal.
const asShown = `\x1b]0;OWNED\x07\x1b[2J\r\nfake\u009b31m\u202e\x9b\xff\u2028\ufeff\u007f`

// hostileProgram makes a program with hostile names of a function, a source file and a folder.
func hostileProgram(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(gdbtest.Build(t, "hostilenames.c", "-g", "-O1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"function_" + strings.Repeat("A", 49), "source_" + strings.Repeat("B", 49) + ".c"} {
		name := old[:1] + hostileText
		if !bytes.Contains(raw, []byte(old)) || len(name) > len(old) {
			t.Fatalf("%q cannot be %q", old, name)
		}
		raw = bytes.ReplaceAll(raw, []byte(old), []byte(name+strings.Repeat("x", len(old)-len(name))))
	}
	dir := filepath.Join(t.TempDir(), "d"+hostileText)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "prog"+hostileText)
	if err := os.WriteFile(program, raw, 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

var ownColor = regexp.MustCompile("\x1b\\[\\d*m")

// Whatever names a target has, and in whatever message they appear, no control character reaches
// the terminal, and no name makes a line of its own.
func TestHostileNames(t *testing.T) {
	program := hostileProgram(t)
	threadName := "t\x1b[5m\n\u009b\xffX\"y"
	p := gdbtest.Start(t, program, threadName)
	pid, bin := strconv.Itoa(p.PID), filepath.Join(commandtest.Install(t, "sfwalk-full"), "sfwalk-full")
	dir := t.TempDir()
	saved, bare := filepath.Join(dir, "saved"+hostileText), filepath.Join(dir, "bare"+hostileText)
	section := patched(t, "mix-v3", ".sframe\x00", "s\x1b[2J\nx\x00")

	run := func(colors bool, args ...string) (out, stderr string) {
		t.Helper()
		out, stderr, _ = commandtest.RunInstalled(t, bin, args...)
		for _, text := range []string{out, stderr} {
			if colors {
				text = ownColor.ReplaceAllString(text, "")
			}
			for i, r := range text {
				if r != '\n' && !unicode.IsGraphic(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
					t.Fatalf("%q: %q\n%q", args, text[i:min(i+20, len(text))], text)
				}
			}
			if strings.Contains(text, "\nfake") || strings.Contains(text, "\n[5m") {
				t.Fatalf("%q: a name begins a line:\n%s", args, text)
			}
		}
		return out, stderr
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %s in\n%s", w, text)
			}
		}
	}

	out, _ := run(false, "attach", pid, "--save", saved)
	has(out, "in f"+asShown, "/s"+asShown, `"t\x1b[5m\n\u009b\xffX\"y"`)
	run(false, "attach", pid, "--log", "-")
	out, _ = run(true, "attach", pid, "--color", "always", "--explain", "--registers", "--no-lines")
	has(out, "\x1b[33mf"+asShown, "\x1b[32m"+dirShown(program))
	out, _ = run(false, "open", saved)
	has(out, "in f"+asShown, "/s"+asShown, dirShown(program))
	_, stderr := run(false, "core", saved, "--exe", "/bin/true")
	has(stderr, "sfwalk: warning: ", `\x1b]0;OWNED\x07\x1b[2J\r\nfake\u009b31m\u202e`)
	out, stderr = run(false, "remote", "localhost:"+commandtest.GDBServer(t, p.PID), "--resume")
	has(out+stderr, "in f"+asShown, dirShown(program))

	// JSON has the names themselves.
	for _, args := range [][]string{{"attach", pid, "--json"}, {"open", "--json", saved}} {
		out, _ = run(false, args...)
		var read struct {
			Exe     string
			Threads []struct {
				Name   string
				Frames []struct{ Function, File string }
			}
		}
		if err := json.Unmarshal([]byte(out), &read); err != nil {
			t.Fatal(err)
		}
		valid := func(s string) string { return strings.Map(func(r rune) rune { return r }, s) } // as encoding/json does
		found := false
		for _, f := range read.Threads[0].Frames {
			found = found || strings.HasPrefix(f.Function, valid("f"+hostileText)) && strings.Contains(f.File, valid("s"+hostileText))
		}
		if !found || read.Exe != valid(program) || read.Threads[0].Name != valid(threadName) {
			t.Errorf("%q: %q", args, out)
		}
	}

	// The same is true of files and of errors in them.
	out, _ = run(false, "sframe", "dump", section)
	has(out, `SFrame section s\x1b[2J\nx:`)
	out, _ = run(false, "sframe", "dump", section, "--json")
	if !json.Valid([]byte(out)) || !strings.Contains(out, `"s\u001b[2J\nx"`) {
		t.Errorf("%.300q", out)
	}
	out, _ = run(false, "sframe", "verify", section)
	has(out, dirShown(section))
	_, stderr = run(false, "sframe", "gen", program, "-o", bare, "--verbose")
	has(stderr, asShown)
	for _, args := range [][]string{
		{"sframe", "dump", program}, {"sframe", "verify", program}, {"sframe", "gen", section, "-o", bare + "/x"},
		{"core", program}, {"open", program}, {"open", bare}, {"core", bare + "none"}, {"attach", hostileText}, {hostileText},
		{"remote", "unix:" + bare}, {"attach", pid, "--save", saved + "/x"}, {"attach", pid, "--sframe-dir", bare},
		{"attach", pid, "--plugin", program}, {"attach", pid, "--" + hostileText}, {"attach", pid, "--sniffers", hostileText},
	} {
		if _, stderr := run(false, args...); !strings.Contains(stderr, `\x1b[2J`) {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}

// dirShown returns the folder of a program as it is shown.
func dirShown(program string) string {
	dir := filepath.Dir(program)
	return strings.Replace(dir, hostileText, asShown, 1) + "/"
}

// patched copies a fixture into a folder with a hostile name, and replaces old by other in it.
func patched(t *testing.T, fixture, old, other string) string {
	t.Helper()
	raw, err := os.ReadFile(gdbtest.Testdata(t, "bin", fixture))
	if err != nil {
		t.Fatal(err)
	}
	if len(old) != len(other) || !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%s cannot have %q for %q", fixture, other, old)
	}
	dir := filepath.Join(t.TempDir(), "d"+hostileText)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fixture)
	if err := os.WriteFile(path, bytes.ReplaceAll(raw, []byte(old), []byte(other)), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

var writes = regexp.MustCompile(`\bfmt\.(Fprint\w*\([^&]|Print)|os\.Std(out|err)\.Write`)

// Packages that write others' text use package printable.
func TestWritersEscape(t *testing.T) {
	for _, files := range []string{"*.go", "*/*.go", "../../delve/server/*.go", "../plugincheck/*.go"} {
		for _, file := range gdbtest.Glob(t, files) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if at := writes.FindIndex(text); at != nil {
				t.Errorf("%s: %s: use printable.Fprintf", file, text[at[0]:min(at[0]+50, len(text))])
			}
		}
	}
}
