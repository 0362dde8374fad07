package tables_test

import (
	"debug/pe"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	peimage "github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/symbol/tables"
	"github.com/sfwalk/sfwalk/target"
)

const source = `
#include <stdio.h>
volatile int sink;
__attribute__((noinline, cold)) static void rare(int n) { printf("%d\n", n); }
static __attribute__((noinline)) int leaf(int n) { if (__builtin_expect(n == 3, 0)) { rare(n); sink += n; } return n + sink; }
static __attribute__((noinline)) int middle(int n) { volatile char room[600]; room[n] = n; return leaf(n) + leaf(room[n] + 1); }
__declspec(dllexport) int exported(int n) { return middle(n) + sink; }
static __attribute__((noinline)) int hidden(int n) { return exported(n) + middle(n); }
int main(int argc, char **argv) { return hidden(argc) + sink; }
`

// TestPEWithoutSymbols: functions of a stripped program of Windows have names by its function
// table, each made of the address that nm has of the program before it was stripped. Code behind a
// function that it exports is not the exported function's.
func TestPEWithoutSymbols(t *testing.T) {
	dir := t.TempDir()
	tool := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(gdbtest.Tool(t, "x86_64-w64-mingw32-"+name), args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(filepath.Join(dir, "calls.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	tool("gcc", "-O2", "-o", "whole.exe", "calls.c")
	tool("strip", "-o", "calls.exe", "whole.exe")
	im, file, err := peimage.OpenFile(filepath.Join(dir, "calls.exe"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	header, err := pe.Open(filepath.Join(dir, "whole.exe"))
	if err != nil {
		t.Fatal(err)
	}
	defer header.Close()
	linked := header.OptionalHeader.(*pe.OptionalHeader64).ImageBase

	const base = 0x7ff6_0000_0000
	m := target.NewModule(`C:\srv\calls.exe`, []target.Mapping{{Lo: base, Hi: base + uint64(im.Size), Exec: true}}, nil)
	m.OpenPE = func() (*peimage.Image, error) { return im, nil }
	m.Identity = &target.Identity{Base: base}
	ms := target.NewModules([]*target.Module{m}, nil)
	s := symbol.New(symbol.Options{Sources: []symbol.Source{tables.PE{}}})
	defer s.Close()

	seen := 0
	for line := range strings.Lines(tool("nm", "-n", "whole.exe")) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "t" && f[1] != "T" {
			continue
		}
		addr, _ := strconv.ParseUint(f[0], 16, 64)
		rva := addr - linked
		l := s.Locate(ms, base+rva+1)[0]
		name, _, _ := strings.Cut(f[2], ".")
		switch want := fmt.Sprintf("calls.exe!fn_%x", rva); name {
		case "rare", "leaf", "middle", "hidden", "main":
			seen++
			if l.Function != want || l.NameFrom != ".pdata" || l.Start != base+rva || l.Offset != 1 {
				t.Errorf("%s: %+v, want %s", f[2], l, want)
			}
		case "exported":
			seen++
			if l.Function != "exported" || !l.Named() {
				t.Errorf("%s: %+v", f[2], l)
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d functions", seen)
	}
}
