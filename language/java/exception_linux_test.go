package java_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestException looks at a thread that has an exception on its way.
func TestException(t *testing.T) {
	gdbtest.Later(t, "java")
	dir := compileJava(t, "Throws.java")
	library := filepath.Join(dir, "throws.so")
	if out, err := exec.Command(gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-o", library, "testdata/throws.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	for name, flags := range variants {
		t.Run(name, func(t *testing.T) {
			args := append(flags[:len(flags):len(flags)], "-XX:+IgnoreUnrecognizedVMOptions", "-Xmx128m", "-cp", dir, "Throws", library)
			p := gdbtest.StartRunning(t, gdbtest.Tool(t, "java"), args...)
			gdbtest.Await(t, "the exception", func() bool {
				for _, th := range told(t, p.PID) {
					if th.Exception != "" {
						if want := "java.lang.IllegalStateException: no such key, raised in Throws.hang"; th.Exception != want || th.Name != "main" {
							t.Fatalf("%q has %q, not %q", th.Name, th.Exception, want)
						}
						return true
					}
				}
				return false
			})
		})
	}
}
