package plugindir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func TestCandidates(t *testing.T) {
	home, one, two := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home) // Linux's; elsewhere the user's own folder stays in the list
	t.Setenv(PathVariable, one+string(filepath.ListSeparator)+string(filepath.ListSeparator)+two)
	dirs := Dirs()
	if len(dirs) != 3 || dirs[0] != one || dirs[1] != two || filepath.Base(dirs[2]) != "plugins" {
		t.Fatalf("directories %q", dirs)
	}
	var want []string
	for _, name := range []string{"sniffer-b", "sniffer-a", "decorator-z", "plugins.lock", "libsniffer-c", ".sniffer-d"} {
		for _, dir := range []string{two, one} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(one, "sniffer-dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{one, two} {
		want = append(want, filepath.Join(dir, "decorator-z"), filepath.Join(dir, "sniffer-a"), filepath.Join(dir, "sniffer-b"))
	}
	if got := Candidates(one, two, filepath.Join(one, "none"), filepath.Join(one, "plugins.lock")); !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		"a": filepath.Join(one, "sniffer-a"), "z": filepath.Join(one, "decorator-z"), "decorator-z": filepath.Join(one, "decorator-z"),
		"decorator-a": "", "sniffer-z": "", "c": "",
	} {
		if got := Named(name, one, two); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func BenchmarkCandidates(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(Candidates(Dirs()...)) > 0 {
			gdbtest.Cannot(b, "there are plug-ins on it")
		}
	}
}
