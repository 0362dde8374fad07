package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The command must start fast: what runs plug-ins is sfwalk-full's alone.
func TestDependencies(t *testing.T) {
	for program, want := range map[string]bool{".": false, "../sfwalk-full": true} {
		out, err := exec.Command("go", "list", "-deps", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		var heavy []string
		for pkg := range strings.Lines(string(out)) {
			for _, prefix := range []string{"google.golang.org/", "github.com/hashicorp/", "net/http"} {
				if strings.HasPrefix(pkg, prefix) {
					heavy = append(heavy, strings.TrimSpace(pkg))
				}
			}
		}
		if (len(heavy) > 0) != want {
			t.Errorf("go list -deps %s has %q", program, heavy)
		}
	}
}
