package elfimage

import "debug/elf"

// Objects returns the image's variables and other data: those symbols of .symtab and .dynsym that have a size. Their
// addresses are link-time ones.
func (im *Image) Objects() *Symbols {
	im.objectsOnce.Do(func() {
		im.objects, _ = im.index(func(r *rawSymbol) bool { return r.symType() == elf.STT_OBJECT && r.size > 0 })
	})
	return im.objects
}
