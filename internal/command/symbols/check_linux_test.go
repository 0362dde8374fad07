package symbols

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSymbolsCheck: exit codes and the sentences of `symbols check`.
func TestSymbolsCheck(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	dir := t.TempDir()
	good, theirs, broken := filepath.Join(dir, "good.sym"), filepath.Join(dir, "theirs.sym"), filepath.Join(dir, "broken.sym")
	if _, errOut, err := commandtest.Run("symbols", "dump", program, "-o", good); err != nil || !strings.Contains(errOut, "functions") {
		t.Fatal(err, errOut)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := exec.Command(gdbtest.Breakpad(t, "dump_syms"), "-d", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "FUNC ") {
			lines[i+1] = "1 1 1 0\n" + lines[i+1]
			break
		}
	}
	if err := errors.Join(os.WriteFile(theirs, peer, 0o666), os.WriteFile(broken, []byte(strings.Join(lines, "\n")), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		code int
		want string // in what is printed
	}{
		{[]string{good}, 0, "nothing is wrong"},
		{[]string{good, program}, 0, "agree, for all"},
		{[]string{theirs}, 0, "nothing is wrong"},
		{[]string{theirs, program}, exit.Disagree, ".cfa differs"}, // the linkage stubs
		{[]string{broken}, exit.Disagree, "is not in its function"},
		{[]string{good, "/bin/ls"}, exit.Trouble, "of another build"},
		{[]string{program}, exit.Trouble, "not a Breakpad symbol file"},
		{[]string{filepath.Join(dir, "none")}, exit.Trouble, "no such file"},
		{[]string{good, good}, exit.Trouble, "not an ELF file"},
		{[]string{broken, "--json"}, exit.Disagree, "is not in its function"},
		{[]string{theirs, program, "--json"}, exit.Disagree, `"differs":[".cfa"`},
		{[]string{good, program, "--json"}, 0, `"agree":true`},
		{[]string{good, "/bin/ls", "--json"}, exit.Trouble, "of another build"},
	} {
		out, _, err := commandtest.Run(append([]string{"symbols", "check"}, x.args...)...)
		status := exit.Status{}
		if errors.As(err, &status); status.Code != x.code || (err != nil && x.code == 0) {
			t.Errorf("%v: %v, want exit code %d", x.args, err, x.code)
		}
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, x.want) {
			t.Errorf("%v: %s\nwant %q", x.args, out, x.want)
		}
	}
}

// TestSymbolsCheckJSON: the document has what was put into the file, as grep and objdump count, and
// docs/json.md has its fields.
func TestSymbolsCheckJSON(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	dir := t.TempDir()
	theirs, broken := filepath.Join(dir, "theirs.sym"), filepath.Join(dir, "broken.sym")
	text, err := exec.Command(gdbtest.Breakpad(t, "dump_syms"), "-d", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Count(string(text), "\n") + 1 // the line that is malformed
	if err := errors.Join(os.WriteFile(theirs, text, 0o666), os.WriteFile(broken, append(text, "FUNC x\n"...), 0o666)); err != nil {
		t.Fatal(err)
	}
	first := strings.Fields(string(text))[:5]
	count := func(pattern string) int { return len(regexp.MustCompile("(?m)^"+pattern).FindAll(text, -1)) }
	out, _, _ := commandtest.Run("symbols", "check", broken, program, "--json")
	commandtest.InPage(t, "sfwalk symbols check", out)
	var doc struct {
		File     string
		Module   struct{ OS, Arch, ID, Name string }
		Fine     bool
		Problems []struct {
			Line       int
			Kind, Text string
		}
		Records struct {
			Funcs, Publics, CFI int
			Changes             int `json:"cfi_changes"`
		}
		Compared struct {
			Agree         bool
			Disagreements []struct {
				Lo, Hi  string
				Differs []string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if m := doc.Module; doc.File != broken || !slices.Equal([]string{"MODULE", m.OS, m.Arch, m.ID, m.Name}, first) {
		t.Errorf("%s: %+v, want %q", doc.File, m, first)
	}
	if r := doc.Records; r.Funcs != count("FUNC ") || r.Publics != count("PUBLIC ") || r.CFI != count("STACK CFI INIT ") || r.Changes != count("STACK CFI [0-9a-f]+ ") || r.CFI == 0 {
		t.Errorf("%+v", r)
	}
	if doc.Fine || len(doc.Problems) != 1 || doc.Problems[0].Line != bad || doc.Problems[0].Kind == "" || doc.Problems[0].Text == "" {
		t.Errorf("problems %+v, want one in line %d", doc.Problems, bad)
	}
	// What differs is the linkage stubs, whose rule dump_syms cannot write.
	sections, err := exec.Command(gdbtest.Tool(t, "readelf"), "-SW", program).Output()
	plt := regexp.MustCompile(`\.plt\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)`).FindSubmatch(sections)
	if err != nil || plt == nil {
		t.Fatalf("%v\n%s", err, sections)
	}
	lo, _ := strconv.ParseUint(string(plt[1]), 16, 64)
	size, _ := strconv.ParseUint(string(plt[2]), 16, 64)
	if doc.Compared.Agree || len(doc.Compared.Disagreements) == 0 {
		t.Errorf("compared: %+v", doc.Compared)
	}
	for _, d := range doc.Compared.Disagreements {
		at, err := strconv.ParseUint(d.Lo, 0, 64)
		if err != nil || at < lo || at >= lo+size || len(d.Differs) == 0 || d.Differs[0] != ".cfa" {
			t.Errorf("%+v, .plt is at %#x, %d bytes", d, lo, size)
		}
	}
}
