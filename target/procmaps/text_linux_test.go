package procmaps

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestText: the kernel's own text of a process's mappings is written again as it was, but for
// sharing, which is not kept.
func TestText(t *testing.T) {
	// An emulator writes its own text for the process that it emulates, but not for others.
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", os.Getppid()))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(string(Text(list)), "\n")
	for i, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasSuffix(fields[1], "s") {
			line = strings.Replace(line, "s ", "p ", 1)
		}
		if strings.TrimSpace(got[i]) != strings.TrimSpace(line) {
			t.Errorf("%q, the kernel has %q", got[i], line)
		}
	}
	odd := []Mapping{{Lo: 1, Hi: 2, Inode: 3, Path: "/a b\nc", Deleted: true, Read: true}, {Lo: 2, Hi: 3, Path: "[stack]"}}
	if again, err := Parse(Text(odd)); err != nil || len(again) != 2 || again[0] != odd[0] || again[1] != odd[1] {
		t.Errorf("%+v, %v", again, err)
	}
}
