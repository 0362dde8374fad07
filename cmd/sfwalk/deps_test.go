package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The command must start fast: only sfwalk-full links Delve, pprof, the terminal and the code that
// runs plug-ins.
func TestDependencies(t *testing.T) {
	heavy := []string{"google.golang.org/", "github.com/hashicorp/", "github.com/go-delve/", "github.com/google/go-dap", "github.com/google/pprof", "github.com/gdamore/", "net/http"}
	for program, want := range map[string]bool{".": false, "../sfwalk-full": true} {
		found := imports(t, program, heavy...)
		if (len(found) > 0) != want {
			t.Errorf("go list -deps %s has %q", program, found)
		}
	}
}

// TestDelveStaysInItsRoom checks that no other package imports a debugger.
func TestDelveStaysInItsRoom(t *testing.T) {
	const module = "github.com/sfwalk/sfwalk/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages, with := 0, 0
	for line := range strings.Lines(string(out)) {
		name, deps, _ := strings.Cut(strings.TrimSpace(line), " ")
		packages++
		may := false
		for _, room := range []string{"delve", "internal/test/delvetest", "internal/command/dlvhost", "internal/test/commandtest/whole", "cmd/sfwalk-full"} {
			may = may || name == module+room || strings.HasPrefix(name, module+room+"/")
		}
		switch uses := strings.Contains(deps, "github.com/go-delve/") || strings.Contains(deps, "github.com/google/go-dap"); {
		case uses && !may:
			t.Errorf("%s imports Delve", name)
		case uses:
			with++
		}
	}
	if packages < 50 || with < 2 {
		t.Errorf("of %d packages, %d import Delve", packages, with)
	}
}

// imports returns the packages with one of the prefixes that a package imports, directly or not.
func imports(t *testing.T, name string, prefixes ...string) (found []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, prefix := range prefixes {
			if strings.HasPrefix(pkg, prefix) {
				found = append(found, strings.TrimSpace(pkg))
			}
		}
	}
	return found
}
