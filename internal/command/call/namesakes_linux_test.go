package call

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestNamesakes: a name that a function has in the frame's unit is the function, also where another
// unit has a type of the name, which a cast would be to.
func TestNamesakes(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "twins.cc"), gdbtest.Tool(t, "g++"), "-g", gdbtest.Testdata(t, "progs", "twinsother.cc"))
	p := gdbtest.Start(t, program)
	texts := []string{"twin(3)", "box::same(3)", "number(3)", "twin(3) + 1", "(twin)"}
	commands := []string{"break twin", "run", "up"}
	for _, text := range texts {
		commands = append(commands, "whatis "+text)
	}
	out := gdbtest.Batch(t, []string{program}, commands...)
	var theirs []string
	for line := range strings.Lines(out) {
		if of, ok := strings.CutPrefix(line, "type = "); ok {
			theirs = append(theirs, strings.TrimSpace(of))
		}
	}
	if len(theirs) != len(texts) {
		t.Fatalf("gdb: %s", out)
	}
	for i, ours := range printedInMain(t, p.PID, texts) {
		if ours.Type != theirs[i] {
			t.Errorf("%s is of type %s %s, for gdb %s", texts[i], ours.Type, ours.Error, theirs[i])
		}
	}
}
