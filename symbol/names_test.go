//go:build linux

package symbol

import (
	"debug/elf"
	"strings"
	"testing"
)

// Functions are named as gdb's backtrace names them: with their parameters where it
// cannot leave them out.
func TestNames(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}} {
		file := compile(t, sources(t), "c++", "names.cc", append(flags, "-std=c++17", "-g", "-no-pie")...)
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		var addresses []uint64
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
				addresses = append(addresses, s.Value, s.Value+s.Size/2)
			}
		}
		ms, bias := mapped(t, file)
		s := New(Options{})
		names, kept, differ := make(map[string]bool), 0, 0
		for _, a := range runGDB(t, "testdata/names.py", file, addresses) {
			got := s.Locate(ms, a.PC+bias)
			if len(got) != len(a.Names) {
				t.Errorf("%#x: %d locations, gdb has %q", a.PC, len(got), a.Names)
				continue
			}
			for i, name := range a.Names {
				if names[name] || strings.Contains(name, "<lambda") {
					continue
				}
				names[name] = true
				if strings.HasSuffix(name, ")") || strings.HasSuffix(name, ") const") {
					kept++
				}
				if got[i].Function != name {
					if differ++; differ < 10 {
						t.Errorf("%#x: %q, gdb says %q", a.PC, got[i].Function, name)
					}
				}
			}
		}
		if t.Logf("%v: %d names, %d with parameters, %d differ", flags, len(names), kept, differ); len(names) < 50 || kept < 4 {
			t.Errorf("%d names, %d with parameters", len(names), kept)
		}
	}
}
