package rowtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const allocas = `
extern int use(void *, ...);
long twice(long n) { use(&n); char *p = __builtin_alloca(n); use(p); char *q = __builtin_alloca(2 * n); use(q); return *p + *q; }
long array(int n) { long s = 0; for (int i = 1; i < n; i++) { char a[i]; use(a); s += a[0]; } return s; }
`

// Alloca demands right rows, and no guesses, for functions in which a loop lowers the stack pointer
// and touches each page that alloca makes.
func (p *Processor) Alloca(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "alloca.c")
	if err := os.WriteFile(source, []byte(allocas), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O1", "-O2", "-Os"} {
		file := filepath.Join(dir, "alloca"+level)
		args := []string{level, "-fstack-clash-protection", "-fno-stack-protector", "-fPIC", "-shared", "-nostdlib", "-o", file, source}
		if msg, err := exec.Command(gdbtest.Tool(t, p.CC), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, msg)
		}
		c := p.Compare(t, file, 0)
		t.Logf("%s: %s", level, c)
		if c.Functions != 2 || c.None+c.Wrong+c.Other+c.Unlike > 0 || c.Guess*50 > c.Total {
			t.Errorf("%s: rows are wrong, missing, or guesses", level)
		}
	}
}
