package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestUnknownLanguage compares variables of a program whose DW_AT_language is a number that no version of DWARF has: gdb
// writes them as C's.
func TestUnknownLanguage(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	const source = `#include <stdio.h>
#include <unistd.h>
enum kind { one, two };
struct point { int x; double y; struct point *next; };
int
main (void)
{
  struct point p = { 1, 2.5, &p }, *to = &p;
  const char *text = "a \"text\"";
  unsigned char c = 'c';
  int list[3] = { 1, 2, -3 };
  enum kind k = two;
  _Bool yes = 1;
  union { int i; float f; } u = { 1 };
  long long big = -5000000000;
  int (*function) (void) = main;
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
  return p.x + to->x + text[0] + c + list[0] + k + yes + u.i + big + (function != 0);
}
`
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(gdbtest.Tool(t, "gcc"), args...)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	if err := os.WriteFile(file("language.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	run("-g", "-O0", "-w", "-dA", "-S", "language.c")
	text, err := os.ReadFile(file("language.s"))
	if err != nil {
		t.Fatal(err)
	}
	language := regexp.MustCompile(`\.byte\t0x[0-9a-f]+(\t# DW_AT_language)`)
	if n := len(language.FindAll(text, -1)); n != 1 {
		t.Fatalf("the compiler has written %d languages", n)
	}
	if err := os.WriteFile(file("language.s"), language.ReplaceAll(text, []byte(".byte\t0x7e$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	run("-o", "language", "language.s")
	compareLocals(t, file("language"), "/language.c", nil, 10)
}
