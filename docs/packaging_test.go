package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPackaging holds what says how a release is made against what is there: packaging/nfpm.yaml,
// the programs in tools, and the workflows.
func TestPackaging(t *testing.T) {
	made := ""
	for _, file := range gdbtest.Glob(t, "../tools/release/*.go") {
		made += readFile(t, file)
	}
	sources := regexp.MustCompile(`src: \$\{TREE\}/(\S+)`).FindAllStringSubmatch(readFile(t, "../packaging/nfpm.yaml"), -1)
	if len(sources) < 5 {
		t.Fatalf("packaging/nfpm.yaml names only %d sources", len(sources))
	}
	for _, m := range sources {
		if !strings.Contains(made, m[1]) && !(strings.HasSuffix(m[1], "/NOTICE") && strings.Contains(made, `"NOTICE"`)) && m[1] != "bin" {
			t.Errorf("packaging/nfpm.yaml packs %s, which tools/release does not make", m[1])
		}
	}
	_, list, _ := strings.Cut(made, "var documents = []string{")
	list, _, _ = strings.Cut(list, "}")
	documents := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list, -1)
	if len(documents) < 5 {
		t.Errorf("a release has the documents %q only", list)
	}
	for _, m := range documents {
		if _, err := os.Stat("../" + m[1]); err != nil {
			t.Error(err)
		}
	}
	for _, m := range regexp.MustCompile(`"\./(cmd/[\w-]+)"`).FindAllStringSubmatch(made, -1) {
		if _, err := os.Stat("../" + m[1] + "/main.go"); err != nil {
			t.Error(err)
		}
	}
	if variable := "github.com/sfwalk/sfwalk/internal/command/version.version"; !strings.Contains(made, variable) || !strings.Contains(readFile(t, "../Makefile"), variable) ||
		!strings.Contains(readFile(t, "../internal/command/version/version.go"), "\nvar version string\n") {
		t.Errorf("the version is not in %s, where 'make build' and 'make release' have the linker put it", variable)
	}
}

// TestWorkflows holds the hosted runs against the Makefile and .ci.
func TestWorkflows(t *testing.T) {
	makefile := readFile(t, "../Makefile")
	found := 0
	for _, file := range gdbtest.Glob(t, "../.github/workflows/*.yml") {
		text := regexp.MustCompile(`#.*`).ReplaceAllString(readFile(t, file), "")
		for _, m := range regexp.MustCompile(`\bmake ([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
			found++
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				t.Errorf("%s runs 'make %s', which the Makefile does not have", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\.ci/[a-z-]+`).FindAllString(text, -1) {
			if _, err := os.Stat("../" + m); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if found < 4 {
		t.Errorf("the workflows run make only %d times", found)
	}
}

// TestVersions checks that the newest version in the changelog is one, and that a page says how it
// is released.
func TestVersions(t *testing.T) {
	versions := regexp.MustCompile(`(?m)^## \[([^\]]+)\](.*)$`).FindAllStringSubmatch(readFile(t, "../CHANGELOG.md"), -1)
	if len(versions) < 2 || versions[0][1] != "Unreleased" {
		t.Fatalf("CHANGELOG.md begins with %q, want what is not released yet, and then a version", versions)
	}
	for _, v := range versions[1:] {
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(v[1]) {
			t.Errorf("CHANGELOG.md: %s is no semantic version", v[1])
		}
	}
}
