package unwindtables

import (
	"debug/pe"

	"github.com/sfwalk/sfwalk/format/pdata"
	peimage "github.com/sfwalk/sfwalk/format/pe"
	"github.com/sfwalk/sfwalk/target"
)

// Functions is the function table (.pdata) of a module of Windows for amd64.
type Functions struct {
	Image *peimage.Image
	*pdata.Table
}

type functionsKey struct{}

// FunctionsOf returns the function table of a module, nil if it has none that can be read.
func FunctionsOf(m *target.Module) *Functions {
	return m.Memo(functionsKey{}, func() any {
		im, err := m.PE()
		if err != nil || im.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
			return (*Functions)(nil)
		}
		rva, size := im.Directory(pe.IMAGE_DIRECTORY_ENTRY_EXCEPTION)
		if size == 0 {
			return (*Functions)(nil)
		}
		t, err := pdata.New(im, rva, min(size, im.Size))
		if err != nil {
			return (*Functions)(nil)
		}
		return &Functions{im, t}
	}).(*Functions)
}

// RVA returns the distance of an address from the image's base, if the image goes there.
func (t *Functions) RVA(base, addr uint64) (rva uint32, ok bool) {
	return uint32(addr - base), addr-base < uint64(t.Image.Size)
}
