package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestUpdate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	goal := func(ours, most float64) Goal {
		return Goal{What: "wall", Peer: "peer", Ours: Value{ours, Nanoseconds}, Theirs: Value{100, Nanoseconds}, Most: most}
	}
	update := func(sections ...*Section) string {
		t.Helper()
		if err := Update(file, "a machine", sections); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	update(&Section{Part: "one", Title: "The first", Text: "OLD", Goals: []Goal{goal(40, 0.5)}},
		&Section{Part: "two", Title: "The second", Goals: []Goal{{What: "pause", Peer: "peer", Most: 1, Missing: "no peer\nTry help."},
			{What: "memory", Peer: "peer", Most: 1, Ours: Memory(0), Theirs: Memory(0)},
			{What: "lines", Peer: "peer", Least: 1, Ours: Count(9), Theirs: Count(10)},
			{What: "names", Peer: "peer", Least: 1, Ours: Count(10), Theirs: Count(10)}}})
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(raw, "\nBy hand.\n"...), 0o666); err != nil {
		t.Fatal(err)
	}
	text := update(&Section{Part: "one", Title: "The first", Text: "NEW", Goals: []Goal{goal(60, 0.5)}})
	for _, want := range []string{
		"# Performance\n", "NEW", "By hand.", "## The second",
		"| one | wall | 60.0 ns | peer | 100 ns | 0.60 | 0.5 | **missed** |",
		"| two | pause |  | peer |  |  | 1 | not measured: no peer |",
		"| two | lines | 9 | peer | 10 | 0.90 | at least 1 | **missed** |",
		"| two | names | 10 | peer | 10 | 1.00 | at least 1 | met |",
		"| two | memory |  | peer |  |  | 1 | not measured: a measurement has no result |",
	} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%q is there %d times", want, n)
		}
	}
	if strings.Contains(text, "OLD") {
		t.Error("the old text is there")
	}
	if again := update(&Section{Part: "one", Title: "The first", Text: "NEW", Goals: []Goal{goal(60, 0.5)}}); again != text {
		t.Errorf("the same once more makes another text:\n%s\nwas\n%s", again, text)
	}
}

func TestUpdateBroken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(file, []byte("<!-- bench: goals -->\nno end\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Update(file, "", nil); err == nil {
		t.Error("no error for a region without an end")
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Time(0), "0.00 ns"},
		{Value{9.876, Nanoseconds}, "9.88 ns"},
		{Time(12345 * time.Nanosecond), "12.3 µs"},
		{Time(999 * time.Millisecond), "999 ms"},
		{Time(61 * time.Second), "61.0 s"},
		{Memory(1023), "1023 B"},
		{Memory(14<<20 + 1<<19), "14.5 MiB"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.v.Number, got, c.want)
		}
	}
	if m := Median([]float64{5, 1, 9, 2, 3}); m != 3 {
		t.Errorf("median %v", m)
	}
}
