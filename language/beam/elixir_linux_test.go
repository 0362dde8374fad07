package beam_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestElixir holds the names of Elixir's functions against how Elixir itself writes them.
func TestElixir(t *testing.T) {
	gdbtest.Later(t, "elixir")
	dir := t.TempDir()
	c := exec.Command(gdbtest.Tool(t, "elixirc"), "-o", dir, "testdata/names.ex")
	c.Env = append(c.Environ(), "LC_ALL=C.UTF-8")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("elixirc: %v\n%s", err, out)
	}
	out, err := exec.Command(gdbtest.Tool(t, "elixir"), "-e", `IO.write(:code.lib_dir(:elixir))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	m := machines(t)[0]
	p := m.start(t, dir, "-pa", filepath.Join(string(out), "ebin"), "-s", "Elixir.Names", "start")
	want := lines(t, p.Stdout)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	tasks, err := languagetest.Find(t, tg, decorator)[0].Runtime.(language.Tasker).Tasks(tg.Memory())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, task := range tasks {
		pid, _, _ := strings.Cut(task.Name, " ")
		got[pid] = functions(task.Frames)
	}
	if len(want) < 30 {
		t.Errorf("only %d processes are told", len(want))
	}
	for _, line := range want {
		pid, stack, _ := strings.Cut(line, "\t")
		if got[pid] != stack || !strings.HasPrefix(stack, "Names.wait/0;") {
			t.Errorf("%s:\n\t%s, Elixir says\n\t%s", pid, got[pid], stack)
		}
	}
}
