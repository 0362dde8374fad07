package elf

import "debug/elf"

// Objects returns the image's variables and other data: those symbols of .symtab and .dynsym that
// have a size. Their addresses are link-time ones.
func (im *Image) Objects() *Symbols {
	im.objectsOnce.Do(func() {
		im.objects, _ = im.index(nil, nil, elf.STT_OBJECT)
	})
	return im.objects
}
