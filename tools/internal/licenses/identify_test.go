package licenses

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Go's own licence is BSD-3-Clause, as its authors say.
func TestIdentify(t *testing.T) {
	own, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	text := string(own)
	if id, err := identify([]Text{{"LICENSE", text}}); id != "BSD-3-Clause" || err != nil {
		t.Errorf("sfwalk's licence is %q, %v", id, err)
	}
	if std, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "LICENSE")); err == nil {
		if id, err := identify([]Text{{"LICENSE", string(std)}, {"PATENTS", "no grant of use"}}); id != "BSD-3-Clause" || err != nil {
			t.Errorf("Go's licence is %q, %v", id, err)
		}
	}
	for name, list := range map[string][]Text{
		"none":         nil,
		"a notice":     {{"NOTICE", text}},
		"unknown":      {{"LICENSE", "You may look at this, on Sundays."}},
		"much unknown": {{"LICENSE", text + strings.Repeat("You must also paint your house green, and tell nobody why you did. ", 60)}},
	} {
		if id, err := identify(list); err == nil {
			t.Errorf("%s: the licence is %q, want an error", name, id)
		}
	}
}
