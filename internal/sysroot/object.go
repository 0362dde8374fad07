package sysroot

import (
	"debug/elf"
	"fmt"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/target"
)

// Object describes a file by its load bias alone: its headers say where it is
// mapped. They come from memory, or from the file.
func (f *Files) Object(o linkmap.Object) (*target.Module, error) {
	progs, err := f.headers(o)
	if err != nil {
		return nil, err
	}
	mappings := loaded(progs, o.Bias)
	if len(mappings) == 0 {
		return nil, fmt.Errorf("%s: no segment of it is loaded", o.Path)
	}
	return f.Module(o.Path, mappings), nil
}

// maxImage bounds the addresses that one file can occupy.
const maxImage = 1 << 40

func (f *Files) headers(o linkmap.Object) ([]elf.ProgHeader, error) {
	if o.Header != 0 {
		if im, err := elfimage.OpenMapped(f.mem, o.Header, maxImage); err == nil {
			return im.Progs, nil
		}
	}
	im, why, err := f.search(nil, o.Path, false, func(im *elfimage.Image) []target.Mapping { return loaded(im.Progs, o.Bias) })
	if im == nil {
		f.Warn("%s: %s: what is loaded from it is not known", o.Path, strings.Join(why, "; "))
		return nil, fmt.Errorf("%s: %w", o.Path, err)
	}
	return im.Progs, nil
}

// loaded returns where the loadable segments are mapped, page by page.
func loaded(progs []elf.ProgHeader, bias uint64) (list []target.Mapping) {
	const page = 0xfff
	for _, p := range progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 || p.Memsz > maxImage {
			continue
		}
		list = append(list, target.Mapping{
			Lo:     (p.Vaddr + bias) &^ page,
			Hi:     (p.Vaddr + bias + p.Memsz + page) &^ page,
			Offset: p.Off &^ page,
			Exec:   p.Flags&elf.PF_X != 0,
		})
	}
	return list
}
