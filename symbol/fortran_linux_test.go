package symbol

import (
	"os"
	"path/filepath"
	"testing"
)

// A procedure of Fortran ends the scope that it is for the procedures within it: those behind it
// are named by the module. gdb names the procedures of such a program of gfortran so.
func TestFortranScopes(t *testing.T) {
	program := compile(t, sources(t), "cc", "calls.c", "-g0", "-O2", "-Iinc", "-no-pie")
	addresses := addressesOf(t, program, 1, func(name string) bool { return name == "main" })
	lo, size := addresses[0], uint64(len(addresses))
	abbrevs := []byte{
		1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x13, 0x0b, 0, 0, // unit: low, high, language
		2, 0x1e, 1, 0x03, 0x08, 0, 0, // module: name
		3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, // procedure: name, low, high
		0,
	}
	const fortran90 = 8
	var entries dwarfBytes
	entries.put(1, lo, size, fortran90, 2, "outer",
		3, "first", lo, uint64(1), 3, "inner", lo+1, uint64(1), 0, 0,
		3, "second", lo+2, uint64(1), 0, 0, 0)
	var unit dwarfBytes
	unit.put(uint32(unitHeader4-4+entries.Len()), uint16(4), uint32(0), 8).Write(entries.Bytes())
	dir := t.TempDir()
	args := []string{}
	for section, data := range map[string][]byte{".debug_info": unit.Bytes(), ".debug_abbrev": abbrevs} {
		file := filepath.Join(dir, section)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--add-section", section+"="+file)
	}
	file := filepath.Join(dir, "fortran")
	run(t, "", "objcopy", append(args, program, file)...)
	ms, bias := mapped(t, file)
	s := New(Options{})
	for i, want := range []string{"outer::first", "first::inner", "outer::second"} {
		if got := s.Locate(ms, lo+uint64(i)+bias); len(got) != 1 || got[0].Function != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if w := s.Warnings(ms.All()[0]); len(w) > 0 {
		t.Error(w)
	}
}
