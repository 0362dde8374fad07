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
	spelling := strings.NewReplacer("::__uniq_ptr_data", "::__uniq_ptr_impl") // as in compare
	// Since version 16 gdb can parse the type of a function in a template's arguments, and leaves
	// out the parameters behind it, too.
	parses := gdbMajor() >= 16
	if parses {
		spelling = strings.NewReplacer("::__uniq_ptr_data", "::__uniq_ptr_impl", " ()", "()", " (", "(")
	}
	for _, test := range []struct {
		source string
		flags  []string
		kept   int
	}{
		{"names.cc", []string{"-O2"}, 5}, // by gcc 14; 8 by gcc 12
		{"parameters.cc", []string{"-O0"}, 40},
		{"parameters.cc", []string{"-O1", "-gdwarf-4", "-gz=zlib"}, 8},
	} {
		file := compile(t, sources(t), "c++", test.source, append(test.flags, "-std=c++17", "-g", "-no-pie")...)
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
		names, kept, differ := make(map[string]bool), make(map[string]bool), 0
		answers := runGDB(t, "testdata/names.py", file, addresses)
		setCalls(t, answers, file)
		for _, a := range answers {
			got := s.Locate(ms, a.PC+bias)
			for _, l := range got {
				if strings.HasSuffix(l.Function, ")") || strings.HasSuffix(l.Function, ") const") {
					kept[l.Function] = true
				}
			}
			if a.stretched(got) {
				continue
			}
			if len(got) != len(a.Chain) {
				t.Errorf("%#x: %d locations, gdb has %+v", a.PC, len(got), a.Chain)
				continue
			}
			for i, f := range a.Chain {
				name := f.Function
				if names[name] || strings.Contains(name, ">>(") { // libiberty's spelling, which gdb cannot parse

					continue
				}
				names[name] = true
				if is, want := spelling.Replace(got[i].Function), spelling.Replace(name); is != want && !(parses && withoutParameters(is) == want) {
					if differ++; differ < 10 {
						t.Errorf("%#x: %q, gdb says %q", a.PC, got[i].Function, name)
					}
				}
			}
		}
		if t.Logf("%s %v: %d names, %d with parameters, %d differ", test.source, test.flags, len(names), len(kept), differ); len(kept) < test.kept {
			t.Errorf("%s: %d names with parameters, want %d", test.source, len(kept), test.kept)
		}
	}
}
