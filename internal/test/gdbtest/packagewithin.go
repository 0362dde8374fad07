package gdbtest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PackageWithin moves the sections of a package of split DWARF, program.dwp, into the program.
func PackageWithin(t *testing.T, program string) {
	t.Helper()
	objcopy, dir := Tool(t, "objcopy"), t.TempDir()
	f, err := elf.Open(program + ".dwp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	args := []string{program}
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, s.Name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--add-section", s.Name+"="+file)
	}
	if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	if err := os.Remove(program + ".dwp"); err != nil {
		t.Fatal(err)
	}
}
