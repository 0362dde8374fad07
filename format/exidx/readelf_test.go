package exidx_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/exidx"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestReadelf compares entries and instructions with readelf -u: of the C library, of others, and
// of programs in both instruction sets.
func TestReadelf(t *testing.T) {
	readelf := gdbtest.Tool(t, "arm-linux-gnueabihf-readelf")
	gcc := gdbtest.Tool(t, "arm-linux-gnueabihf-gcc")
	const lib = "/usr/arm-linux-gnueabihf/lib/"
	files := []string{gdbtest.File(t, lib+"libc.so.6"), gdbtest.File(t, lib+"libstdc++.so.6"), gdbtest.File(t, lib+"libgcc_s.so.1")}
	for _, flags := range []string{"-marm -O0", "-mthumb -O0", "-marm -O2", "-mthumb -O2 -fno-omit-frame-pointer"} {
		out := filepath.Join(t.TempDir(), "program")
		args := append(strings.Fields(flags), "-funwind-tables", "-o", out, "-x", "c", "-")
		cmd := exec.Command(gcc, args...)
		cmd.Stdin = strings.NewReader(source)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", flags, err, text)
		}
		files = append(files, out)
	}
	instructions := 0
	for _, path := range files {
		cmd := exec.Command(readelf, "-uW", path)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		n := 0
		for want := range entries(text) {
			e := s.Entry(n)
			n++
			u, err := s.Unwind(e)
			var got []string
			for at := 0; at < len(u.Code); {
				in, err := exidx.Decode(u.Code[at:])
				if err != nil {
					t.Fatalf("%s: %#x: %v", path, e.Lo, err)
				}
				got = append(got, in.String())
				if at += in.Len; in.Kind == exidx.Finish {
					break
				}
			}
			if len(got) > 0 && got[len(got)-1] != "finish" {
				got = append(got, "finish")
			}
			if e.Lo != want.addr || errors.Is(err, exidx.ErrCantUnwind) != want.cant {
				t.Errorf("%s: entry %d is of %#x, %v; readelf: %+v", path, n, e.Lo, err, want)
			}
			if want.personality {
				if u.Model != exidx.Generic || u.Personality != want.routine {
					t.Errorf("%s: %#x: personality %#x, want %#x", path, e.Lo, u.Personality, want.routine)
				}
				continue // readelf prints no instructions
			}
			if end := slices.Index(want.code, "finish"); end >= 0 {
				want.code = want.code[:end+1] // readelf goes on to the end of the word
			} else if len(want.code) > 0 {
				want.code = append(want.code, "finish")
			}
			instructions += len(got)
			if fmt.Sprint(got) != fmt.Sprint(want.code) {
				t.Errorf("%s: %#x: %q, readelf: %q", path, e.Lo, got, want.code)
			}
		}
		if n != s.Len() || n == 0 {
			t.Errorf("%s: %d entries, readelf: %d", path, s.Len(), n)
		}
	}
	if instructions < 3000 {
		t.Errorf("only %d instructions compared", instructions)
	}
}

const source = `
#include <alloca.h>
#include <stdio.h>
#include <string.h>
int many(int n, int m) { char *p = alloca(n); memset(p, m, n); return p[n - 1] + puts(p); }
int large(int n) { char b[5000]; memset(b, n, sizeof b); return puts(b); }
int all(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); int s = 0; while (n--) s += __builtin_va_arg(a, int) + puts("x"); return s; }
double doubles(double a, double b) { double r = 0; for (int i = 0; i < 9; i++) { r += a * b; puts("x"); a += r; b *= r; } return r; }
int main(void) { return many(3, 4) + large(5) + all(2, 3, 4) + doubles(2, 3); }
`

func open(t *testing.T, path string) *exidx.Section {
	im, file, err := elfimage.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	data, addr, err := im.Segment(elf.ProgType(0x70000001))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s, err := exidx.Open(data, addr, binary.LittleEndian, func(addr uint64, p []byte) (int, error) { return im.ReadLoaded(addr, p), nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// entry is what readelf prints of one.
type entry struct {
	addr              uint64
	cant, personality bool
	routine           uint32
	code              []string
}

// entries reads what readelf has printed.
func entries(text []byte) func(yield func(entry) bool) {
	return func(yield func(entry) bool) {
		lines := bufio.NewScanner(bytes.NewReader(text))
		var e *entry
		for lines.Scan() {
			line := lines.Text()
			switch {
			case strings.HasPrefix(line, "0x"):
				if e != nil && !yield(*e) {
					return
				}
				e = &entry{cant: strings.HasSuffix(line, "[cantunwind]")}
				fmt.Sscanf(line, "0x%x", &e.addr)
			case strings.HasPrefix(line, "  Personality routine: "):
				e.personality = true
				fmt.Sscanf(line, "  Personality routine: 0x%x", &e.routine)
			case strings.HasPrefix(line, "  0x"):
				fields := strings.Fields(line)
				for len(fields) > 0 && strings.HasPrefix(fields[0], "0x") {
					fields = fields[1:]
				}
				e.code = append(e.code, strings.Join(fields, " "))
			}
		}
		if e != nil {
			yield(*e)
		}
	}
}
