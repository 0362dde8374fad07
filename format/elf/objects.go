package elf

import "debug/elf"

// Objects returns the image's variables and other data: the symbols of type STT_OBJECT in .symtab
// and .dynsym that have a size. Their addresses are link-time ones.
func (im *Image) Objects() *Symbols {
	im.objectsOnce.Do(func() {
		im.objects, _ = im.index(nil, nil, elf.STT_OBJECT)
	})
	return im.objects
}
