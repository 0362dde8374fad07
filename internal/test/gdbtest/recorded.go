package gdbtest

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Recorded returns the answer of a tool, gdb or readelf, to a question about a file. What the tool
// has answered before is replayed: the same release of the tool, to the same question about the
// same bytes. Else ask is called, and its answer is recorded beside the programs that Build makes.
// With SFWALK_ASK=anew, which 'make rest' sets, all is asked, and an answer that is another one
// than the recorded fails the test.
//
// The question has all that the answer depends on: options, a script's text, addresses. A file in a
// temporary folder is another one each time, and is always asked about.
func Recorded(t testing.TB, tool, file, question string, ask func() string) string {
	t.Helper()
	place := recordedAt(t, tool, file, question)
	if place == "" {
		return ask()
	}
	known, err := os.ReadFile(place)
	if err == nil && os.Getenv("SFWALK_ASK") != "anew" {
		month := time.Now().AddDate(0, 0, -30)
		if info, err := os.Stat(place); err == nil && info.ModTime().Before(month) {
			t.Logf("RECORDED LONG AGO: %s was asked about %s last on %s", tool, file, info.ModTime().Format(time.DateOnly))
		}
		// testall has 'make rest' run a test that says this.
		t.Logf("REPLAYED: what %s has said of %s (make rest)", tool, file)
		return string(known)
	}
	answer := ask()
	if err == nil && answer != string(known) {
		t.Errorf("%s gives two answers about %s: %q, recorded %q", tool, file, answer, known)
	}
	// Another test may record the same: each to a name of its own, then rename.
	part, err := os.CreateTemp(filepath.Dir(place), "part")
	if err != nil {
		t.Fatal(err)
	}
	_, err = part.WriteString(answer)
	part.Close()
	if err == nil {
		err = os.Rename(part.Name(), place)
	}
	if err != nil {
		os.Remove(part.Name())
		t.Error(err)
	}
	return answer
}

// recordedAt returns the path of the answer to a question; "" if there can be none.
func recordedAt(t testing.TB, tool, file, question string) string {
	t.Helper()
	base, err := os.UserCacheDir()
	file, fileErr := filepath.Abs(file)
	if err != nil || fileErr != nil || strings.HasPrefix(file, os.TempDir()+"/") {
		return ""
	}
	folder := filepath.Join(base, "sfwalk-test", "answers")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", releaseOf(t, tool), file, question)
	for _, path := range append([]string{Tool(t, tool), file}, debugFiles(file)...) {
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		n, err := io.Copy(h, f)
		f.Close()
		if err != nil {
			return ""
		}
		fmt.Fprintf(h, "%d", n)
	}
	return filepath.Join(folder, hex.EncodeToString(h.Sum(nil)[:16]))
}

var releases sync.Map // what each tool says of itself, by its name

// releaseOf returns what a tool says of itself.
func releaseOf(t testing.TB, tool string) string {
	t.Helper()
	if said, ok := releases.Load(tool); ok {
		return said.(string)
	}
	said, err := exec.Command(Tool(t, tool), "--version").Output()
	if err != nil {
		t.Fatalf("%s --version: %v", tool, err)
	}
	releases.Store(tool, string(said))
	return string(said)
}

// debugFiles returns the files that a tool may read with an ELF file: its debug information, by the
// build ID, and what lies beside it.
func debugFiles(file string) (paths []string) {
	if beside, err := os.ReadDir(filepath.Dir(file)); err == nil {
		for _, e := range beside {
			if strings.HasPrefix(e.Name(), filepath.Base(file)+".") && e.Type().IsRegular() {
				paths = append(paths, filepath.Join(filepath.Dir(file), e.Name()))
			}
		}
	}
	f, err := elf.Open(file)
	if err != nil {
		return paths
	}
	defer f.Close()
	if s := f.Section(".note.gnu.build-id"); s != nil {
		if note, err := s.Data(); err == nil && len(note) > 20 {
			id := hex.EncodeToString(note[16:])
			debug := filepath.Join("/usr/lib/debug/.build-id", id[:2], id[2:]+".debug")
			if _, err := os.Stat(debug); err == nil {
				paths = append(paths, debug)
			}
		}
	}
	return paths
}
