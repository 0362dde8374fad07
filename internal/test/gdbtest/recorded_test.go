package gdbtest

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRecorded: an answer is replayed for the same bytes and the same question alone, and is asked
// anew where that is wanted.
func TestRecorded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("TMPDIR", filepath.Join(home, "none")) // so that the file is not a temporary one
	t.Setenv("SFWALK_ASK", "")
	file := filepath.Join(home, "file")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	asked := 0
	ask := func(question string) string {
		return Recorded(t, "readelf", file, question, func() string { asked++; return "answer" })
	}
	for i, step := range []struct {
		change   func()
		question string
		asked    int
	}{
		{func() {}, "-n", 1},
		{func() {}, "-n", 1},
		{func() {}, "-S", 2},
		{func() { write("two") }, "-n", 3},
		{func() { write("one") }, "-n", 3},
		{func() { os.WriteFile(file+".dwp", nil, 0o644) }, "-n", 4},
		{func() { t.Setenv("SFWALK_ASK", "anew") }, "-n", 5},
	} {
		step.change()
		if got := ask(step.question); got != "answer" || asked != step.asked {
			t.Errorf("step %d: %q, asked %d times, want %d", i, got, asked, step.asked)
		}
	}

	// What was asked long ago is still replayed, and asking anew makes it new.
	at := recordedAt(t, "readelf", file, "-n")
	long := time.Now().AddDate(0, 0, -31)
	if err := os.Chtimes(at, long, long); err != nil {
		t.Fatal(err)
	}
	ask("-n")
	if info, err := os.Stat(at); err != nil || info.ModTime().Sub(long) < time.Hour {
		t.Errorf("%v, %v", info, err)
	}
	t.Setenv("TMPDIR", home)
	if at := recordedAt(t, "readelf", file, "-n"); at != "" {
		t.Errorf("an answer about a temporary file is at %s", at)
	}
}
