package symbol

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// TestLanguage compares the languages of functions with what gdb tells of their source.
func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ name, text, flags string }{
		{"c.c", "int main(void) { return 0; }\n", "-g"},
		{"old.c", "int main(void) { return 0; }\n", "-gdwarf-4"},
		{"c99.c", "int main(void) { return 0; }\n", "-std=c99"},
		{"cxx.cc", "int main() { return 0; }\n", "-g"},
		{"cxx17.cc", "int main() { return 0; }\n", "-std=c++17"},
		{"asm.s", "\t.globl main\n\t.type main, @function\nmain:\n\tret\n\t.size main, .-main\n\t.section .note.GNU-stack,\"\",@progbits\n", "-g"},
		{"split.c", "int main(void) { return 0; }\n", "-gsplit-dwarf"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			source, program := filepath.Join(dir, tt.name), filepath.Join(dir, "program")
			if err := os.WriteFile(source, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(gdbtest.Tool(t, "c++"), "-x", map[string]string{".c": "c", ".s": "assembler"}[filepath.Ext(source)], "-g", tt.flags, "-o", program, source)
			if filepath.Ext(source) == ".cc" {
				cmd.Args = append(cmd.Args[:1], cmd.Args[3:]...)
			}
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-ex", "list main", "-ex", "info source", program).CombinedOutput()
			if err != nil {
				t.Fatalf("gdb: %v: %s", err, out)
			}
			want := regexp.MustCompile(`Source language is ([^\n]+)\.\n`).FindSubmatch(out)
			if want == nil {
				t.Fatalf("gdb: %s", out)
			}
			f, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			list, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			s := New(Options{})
			defer s.Close()
			ms := target.NewModules([]*target.Module{walktest.Map(program, walktest.Open(t, program), 0)}, nil)
			found := false
			for _, x := range list {
				if x.Name == "main" {
					found = true
					if got := s.Language(ms, x.Value); got != string(want[1]) {
						t.Errorf("language %q, gdb has %q", got, want[1])
					}
				}
			}
			if got := s.Language(ms, f.Entry); !found || got != "" && got != "asm" { // the C library's, with or without debug information
				t.Errorf("main is there: %v; _start is in %q", found, got)
			}
		})
	}
}
