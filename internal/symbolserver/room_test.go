package symbolserver

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Symbol files give way, those first that were not used for the longest time; what was used just
// now, and other files, stay.
func TestMakeRoom(t *testing.T) {
	cache := t.TempDir()
	ages := map[string]time.Duration{"oldest": 5 * time.Hour, "old": 4 * time.Hour, "fetched long ago, used": 9 * time.Hour, "new": time.Minute}
	for name, age := range ages {
		dir := filepath.Join(cache, "server", name, "ID")
		file := filepath.Join(dir, name+".sym")
		then := time.Now().Add(-age)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, filepath.Join(dir, partName), filepath.Join(dir, "notes")} {
			if err := os.WriteFile(path, make([]byte, 500), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
	}
	used(filepath.Join(cache, "server", "fetched long ago, used", "ID", "x.sym"))
	makeRoom(cache, 4000)
	is := func(name string) bool {
		_, err := os.Stat(filepath.Join(cache, "server", name, "ID", name+".sym"))
		return err == nil
	}
	for name := range ages {
		if !is(name) {
			t.Errorf("%s was removed, and there was room", name)
		}
	}
	makeRoom(cache, 3500)
	if is("oldest") || !is("old") || !is("fetched long ago, used") || !is("new") {
		t.Error("another one than the oldest was removed")
	}
	makeRoom(cache, 0)
	if is("old") || !is("fetched long ago, used") || !is("new") {
		t.Error("what was used just now was removed, or what is old stays")
	}
	if _, err := os.Stat(filepath.Join(cache, "server", "old", "ID", "notes")); err != nil {
		t.Errorf("a file of others: %v", err)
	}
}
