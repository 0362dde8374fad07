package docs

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestNotice compares the modules that NOTICE lists with the modules of which go links packages
// into the programs, and looks for their licences there. 'make notice' writes the file.
func TestNotice(t *testing.T) {
	gdbtest.Tool(t, "go")
	notice := readFile(t, "../NOTICE")
	table, texts, ok := strings.Cut(notice, "\n====")
	if !ok {
		t.Fatal("NOTICE has no texts")
	}
	listed := map[string]string{} // version by path
	for _, m := range regexp.MustCompile(`(?m)^(\S+\.\S+/\S+) +(v\S+) +\S`).FindAllStringSubmatch(table, -1) {
		listed[m[1]] = m[2]
	}
	linked := linkedModules(t)
	for path, m := range linked {
		if listed[path] != m.version {
			t.Errorf("NOTICE has %s %q, linked is %q: run 'make notice'", path, listed[path], m.version)
		}
		delete(listed, path)
		files := 0
		for _, file := range gdbtest.Glob(t, m.dir+"/*") {
			if name := strings.ToUpper(filepath.Base(file)); !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "NOTICE") && !strings.HasPrefix(name, "PATENTS") {
				continue
			}
			files++
			if text := readFile(t, file); !strings.Contains(squeeze(texts), squeeze(text)) {
				t.Errorf("NOTICE lacks the text of %s: run 'make notice'", file)
			}
		}
		if files == 0 {
			t.Errorf("%s has no licence", path)
		}
	}
	for path := range listed {
		t.Errorf("NOTICE lists %s, which is not linked: run 'make notice'", path)
	}
	if len(linked) < 20 || !strings.Contains(table, "MPL-2.0") || !strings.Contains(texts, "Mozilla Public License, version 2.0") {
		t.Errorf("%d modules are linked; NOTICE says nothing of the Mozilla Public License, or lacks its text", len(linked))
	}
	if !strings.Contains(squeeze(texts), "Copyright 2009 The Go Authors.") {
		t.Error("NOTICE lacks the licence of Go's standard library")
	}
}

// squeeze makes one blank of all between words.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

type linkedModule struct{ version, dir string }

// linkedModules returns the modules of which packages are linked into the programs of a release, by
// path.
func linkedModules(t *testing.T) map[string]linkedModule {
	t.Helper()
	// tools/internal/platforms lists the platforms of a release.
	platform := regexp.MustCompile(`"(\w+)/(\w+)"`)
	platforms := platform.FindAllStringSubmatch(readFile(t, "../tools/internal/platforms/platforms.go"), -1)
	if len(platforms) < 5 || !slices.ContainsFunc(platforms, func(m []string) bool { return m[1] == "windows" }) {
		t.Fatalf("the platforms of a release: %q", platforms)
	}
	modules := map[string]linkedModule{}
	for _, p := range platforms {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "../cmd/...")
		cmd.Env = append(os.Environ(), "GOOS="+p[1], "GOARCH="+p[2], "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", p[0], err)
		}
		for d := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if m := p.Module; m != nil && !m.Main {
				modules[m.Path] = linkedModule{m.Version, m.Dir}
			}
		}
	}
	return modules
}
