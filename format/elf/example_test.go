package elf_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/elf"
)

// Find the function at an address of a file, and where a function is by its name, as nm has them.
func ExampleImage_Symbols() {
	im, f, err := elf.OpenFile("../../testdata/bin/mix-v3")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	if s, ok := im.Symbols().Find(0x1505); ok {
		fmt.Printf("%#x is in %s\n", 0x1505, im.Symbols().Name(s))
	}
	for _, s := range im.Lookup("chain_leaf", 1) {
		fmt.Printf("chain_leaf is at %#x\n", s.Addr)
	}
	// Output:
	// 0x1505 is in chain_saves
	// chain_leaf is at 0x14d0
}
