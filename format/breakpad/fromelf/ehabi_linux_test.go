package fromelf_test

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestEHABI: STACK CFI made of exception tables and code says what gcc's DWARF says, at nearly all
// instructions: where return addresses and registers are, at all.
func TestEHABI(t *testing.T) {
	gcc, objcopy := gdbtest.Tool(t, "arm-linux-gnueabihf-gcc"), gdbtest.Tool(t, "arm-linux-gnueabihf-objcopy")
	source := gdbtest.Testdata(t, "progs", "guest", "stacks.c")
	for _, flags := range [][]string{{"-O1"}, {"-O2"}, {"-O2", "-marm"}, {"-O3"}} {
		program := gdbtest.Compile(t, source, append(append([]string{gcc}, flags...), "-g", "-fomit-frame-pointer", "-funwind-tables", "-Wl,--build-id")...)
		bare := filepath.Join(t.TempDir(), "bare")
		if out, err := exec.Command(objcopy, "-R", ".debug_frame", program, bare).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		d, err := fromelf.Open(bare, fromelf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		_, err = d.WriteTo(&text)
		d.Close()
		symbols := filepath.Join(t.TempDir(), "bare.sym")
		if err == nil {
			err = os.WriteFile(symbols, text.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := breakpad.Open(symbols)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		whole, err := fromelf.Open(program, fromelf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := whole.Compare(file)
		whole.Close()
		if err != nil {
			t.Fatal(err)
		}
		late := uint64(0)
		for _, x := range c.Disagreements {
			for _, r := range x.Registers {
				switch r {
				case "r0", "r1", "r2", "r3": // need not be preserved
				case ".cfa": // another register of the same value; data behind returns; gcc is late by an instruction where two move sp
					late += x.Hi - x.Lo
				default:
					t.Errorf("%v: %+v", flags, x)
				}
			}
		}
		t.Logf("%v: %d bytes compared, %d without a record, %d with another CFA", flags, c.Compared, c.Missing, late)
		if c.Compared < 500 || c.Missing > c.Compared/20 || late > c.Compared/20 {
			t.Errorf("%v: %d bytes compared, %d without a record, %d with another CFA", flags, c.Compared, c.Missing, late)
		}
	}
}

// FuzzEHABI writes the symbol file of a program of Arm whose exception tables, or code, somebody
// has changed.
func FuzzEHABI(f *testing.F) {
	program, err := elf.Open("testdata/arm-tables")
	if err != nil {
		f.Fatal(err)
	}
	defer program.Close()
	code, extab, index := elftest.Of(f, program, ".text"), elftest.Of(f, program, ".ARM.extab"), elftest.Of(f, program, ".ARM.exidx")
	f.Add(code.Data[:min(len(code.Data), 256)], extab.Data, index.Data)
	f.Fuzz(func(t *testing.T, text, table, entries []byte) {
		if len(text)+len(table)+len(entries) > 1<<16 {
			return
		}
		x, y, z := code, extab, index
		x.Data, y.Data, z.Data = text, table, entries
		data := (&elftest.File{Machine: elf.EM_ARM, Class: elf.ELFCLASS32, Type: elf.ET_EXEC, Sections: []elftest.Section{x, y, z}}).Bytes()
		bounds.Hold(t, 16<<20+4000*(len(text)+len(table)+len(entries)), func() {
			im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			d, err := fromelf.OpenImage(im, "fuzzed", fromelf.Options{})
			if err != nil {
				return
			}
			if n, err := d.WriteTo(io.Discard); err != nil || n > 16<<20 {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	})
}
