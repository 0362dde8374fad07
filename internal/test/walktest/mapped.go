package walktest

import (
	"debug/elf"
	"os"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Open opens an ELF file until the test ends.
func Open(t testing.TB, path string) *elfimage.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	im, err := elfimage.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// Map makes the module of a file as if the kernel had mapped it. There is no process.
func Map(path string, im *elfimage.Image, bias uint64) *target.Module {
	const page = 0xfff
	var maps []target.Mapping
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD {
			maps = append(maps, target.Mapping{
				Lo: bias + p.Vaddr&^page, Hi: bias + (p.Vaddr+p.Memsz+page)&^page,
				Offset: p.Off &^ page, Exec: p.Flags&elf.PF_X != 0,
			})
		}
	}
	return target.NewModule(path, maps, func() (*elfimage.Image, error) { return im, nil })
}
