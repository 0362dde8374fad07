//go:build linux

package lookup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// libsframe runs the tests of libsframe itself, and compares the sections that they read
// and write.
func (s *suite) libsframe() {
	tests := filepath.Join(s.Source, "libsframe/testsuite")
	data, err := filepath.Glob(filepath.Join(tests, "libsframe.decode/DATA*"))
	if err != nil || len(data) == 0 {
		s.Fatalf("%v, %v", data, err)
	}
	for _, file := range data {
		s.Run(filepath.Base(file), func(t *testing.T) { s.bare(t, file) })
	}
	d, err := build.NewDir(s.TempDir())
	if err != nil {
		s.Fatal(err)
	}
	lib, _, err := d.Libsframe()
	if err != nil {
		s.Fatal(err)
	}
	for name, text := range map[string]string{"config.h": "", "dejagnu.h": dejagnu, "capture.h": capture} {
		if err := os.WriteFile(filepath.Join(d.Path, name), []byte(text), 0o666); err != nil {
			s.Fatal(err)
		}
	}
	programs, err := filepath.Glob(filepath.Join(tests, "libsframe.*/*.c"))
	if err != nil || len(programs) == 0 {
		s.Fatalf("%v, %v", programs, err)
	}
	for _, source := range programs {
		s.Run(filepath.Base(source), func(t *testing.T) {
			s.cases++
			dir := t.TempDir()
			for _, file := range data {
				if err := os.Symlink(file, filepath.Join(dir, filepath.Base(file))); err != nil {
					t.Fatal(err)
				}
			}
			program := filepath.Join(dir, "program")
			out, err := exec.Command(gdbtest.Tool(t, "gcc"), "-w", "-D_GNU_SOURCE", "-I"+d.Path, "-I"+tests, "-I"+lib, "-include", "capture.h", source, "-o", program,
				filepath.Join(lib, "libsframe.so.3"), "-Wl,-rpath,"+lib).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cmd := exec.Command(program)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "FAIL") {
				t.Fatalf("%v\n%s", err, out)
			}
			written, err := filepath.Glob(filepath.Join(dir, "written.*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range written {
				s.bare(t, file)
			}
			t.Logf("wrote %d sections", len(written))
		})
	}
}

// bare compares the bare bytes of a section.
func (s *suite) bare(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section, err := sframe.Open(data, 0)
	if errors.Is(err, sframe.ErrUnsupported) && len(data) > 2 && sframe.Version(data[2]) > sframe.V3 {
		gdbtest.Cannot(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.cases++
	s.section(t, section)
}

// dejagnu stands in for DejaGnu's header.
const dejagnu = `
#include <stdarg.h>
#include <stdio.h>
static inline void say (const char *what, const char *fmt, va_list ap)
{ printf ("%s: ", what); vprintf (fmt, ap); putchar ('\n'); }
static inline void pass (const char *fmt, ...)
{ va_list ap; va_start (ap, fmt); say ("PASS", fmt, ap); va_end (ap); }
static inline void fail (const char *fmt, ...)
{ va_list ap; va_start (ap, fmt); say ("FAIL", fmt, ap); va_end (ap); }
`

// capture keeps what a test has libsframe write, in files "written.N".
const capture = `
#include <stdio.h>
#include "sframe-api.h"
static inline char *keep (char *p, size_t *size)
{
  static int n;
  char name[32];
  FILE *f;
  snprintf (name, sizeof name, "written.%d", n++);
  if (p && (f = fopen (name, "wb")))
    {
      fwrite (p, 1, *size, f);
      fclose (f);
    }
  return p;
}
#define sframe_encoder_write(e, size, ...) keep (sframe_encoder_write (e, size, __VA_ARGS__), size)
`
