package fromelf_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

func init() {
	arch.Register(&arch.Arch{Name: "outside", Machine: elf.EM_PARISC, Order: binary.BigEndian, PtrSize: 8})
}

// A descriptor of a processor outside may leave Breakpad's names empty: no symbol file can name the
// processor then.
func TestNamelessProcessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nameless")
	f := elftest.Program(elf.ELFCLASS64, binary.BigEndian, elf.EM_PARISC, elf.ET_DYN)
	if err := os.WriteFile(path, f.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := fromelf.Open(path, fromelf.Options{})
	if err == nil {
		d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "machine EM_PARISC: not known") {
		t.Errorf("%v, want that the machine is not known", err)
	}
}
