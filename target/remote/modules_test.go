package remote

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A stub lists its libraries and its program, but neither mappings nor an auxiliary vector. The
// files say where each part of them is loaded.
func TestLibraries(t *testing.T) {
	program, err := filepath.Abs("../../testdata/bin/mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	library, err := filepath.Abs("../../testdata/bin/mix-v2")
	if err != nil {
		t.Fatal(err)
	}
	const bias = uint64(0x7f12_3456_0000)
	s := sleepy()
	s.answers["qSupported*"] += ";qXfer:exec-file:read+;qXfer:libraries-svr4:read+"
	s.answers["qXfer:exec-file:read:2a:*"] = "l" + program
	s.answers["qXfer:libraries-svr4:read::*"] = fmt.Sprintf(`l<library-list-svr4 version="1.0" main-lm="0x1">`+
		`<library name="%s" lm="0x2" l_addr="%#x" l_ld="0x3"/><library name="/nonexistent.so" lm="0x4" l_addr="0x10000" l_ld="0x5"/>`+
		`<library name="broken" l_addr="x"/></library-list-svr4>`, library, bias)
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if tg.Exe != program {
		t.Errorf("program %q", tg.Exe)
	}
	want := map[string]uint64{program: 0, library: bias}
	for _, m := range tg.Modules().All() {
		at, ok := want[m.Path]
		if !ok {
			t.Errorf("module %s", m.Path)
			continue
		}
		delete(want, m.Path)
		// The file's own headers say where the code is.
		f, err := elf.Open(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && (tg.Modules().Find(p.Vaddr+at) != m || !tg.Modules().IsCode(p.Vaddr+at)) {
				t.Errorf("%s: nothing at %#x", m.Path, p.Vaddr+at)
			}
		}
		f.Close()
		if _, got, err := m.Image(); err != nil || got != at {
			t.Errorf("%s: bias %#x, want %#x: %v", m.Path, got, at, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
	if w := strings.Join(tg.Warnings(), "\n"); !strings.HasPrefix(w, "/nonexistent.so: /nonexistent.so cannot be opened (no such file or directory)") ||
		!strings.HasSuffix(w, ": what is loaded from it is not known") || strings.Contains(w, "\n") {
		t.Errorf("warnings %q", tg.Warnings())
	}
	// Memory that no list has may be code if it can be read. Here none can.
	if tg.Modules().IsCode(0x5000_0000) {
		t.Error("code where no memory is")
	}
}

// A list of libraries that does not end costs what it was to tell, and a warning.
func TestEndlessLibraries(t *testing.T) {
	s := sleepy()
	s.answers["qSupported*"] += ";qXfer:libraries-svr4:read+"
	s.answers["qXfer:libraries-svr4:read::*"] = "m" + strings.Repeat(" ", 1_000_000)
	tg, err := s.dial(t, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	asked := 0
	for _, p := range s.packets() {
		if strings.HasPrefix(p, "qXfer:libraries-svr4:") {
			asked++
		}
	}
	if asked > 17 {
		t.Errorf("%d MB of the list are read", asked)
	}
	if w := strings.Join(tg.Warnings(), "\n"); !strings.Contains(w, "not all of the stub's list of libraries is known: read libraries-svr4: more than ") {
		t.Errorf("warnings %q", w)
	}
}
