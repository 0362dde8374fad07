package fromelf

import (
	"debug/elf"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// cfiABI returns what call frame information does not say about the processor.
func (d *Dump) cfiABI(im *elfimage.Image) cfi.ABI {
	abi := cfi.ABI{Order: im.Order, PtrSize: 8, FP: d.arch.FP, PAuth: d.arch.PAuth}
	if im.Class == elf.ELFCLASS32 {
		abi.PtrSize = 4
	}
	return abi
}

// cfiSections yields the call frame information of d's files, in the order of dump_syms:
// .debug_frame of each file before .eh_frame.
func (d *Dump) cfiSections() iter.Seq[*cfi.Section] {
	return func(yield func(*cfi.Section) bool) {
		for _, im := range d.sources() {
			for _, kind := range []cfi.Kind{cfi.Debug, cfi.EH} {
				name := kind.String()
				data, addr, err := im.Section(name, ".z"+strings.TrimPrefix(name, "."))
				if err == nil {
					opts := cfi.Options{ABI: d.cfiABI(im)}
					for _, s := range im.ELF().Sections {
						switch s.Name {
						case ".text":
							opts.TextBase = s.Addr
						case ".got":
							opts.DataBase = s.Addr
						}
					}
					var section *cfi.Section
					if section, err = cfi.Open(kind, data, addr, opts); err == nil {
						if !yield(section) {
							return
						}
					}
				}
				if err != nil && !errors.Is(err, elfimage.ErrNoSection) {
					d.warn(nil, fmt.Errorf("%s: %w", name, err))
				}
			}
		}
	}
}
