package target_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Tell which file an address of a process is in. A target of one's own lists the mappings of each
// file; the file is opened when somebody asks for what is in it.
func ExampleNewModules() {
	const path = "../testdata/bin/mix-v3"
	program := target.NewModule(path, []target.Mapping{
		{Lo: 0x5555_0000_0000, Hi: 0x5555_0000_1000, Offset: 0},
		{Lo: 0x5555_0000_1000, Hi: 0x5555_0000_2000, Offset: 0x1000, Exec: true},
	}, func() (*elf.Image, error) {
		im, _, err := elf.OpenFile(path)
		return im, err
	})
	modules := target.NewModules([]*target.Module{program}, nil)
	m := modules.Find(0x5555_0000_1505)
	im, bias, err := m.Image()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := im.Symbols().Find(0x5555_0000_1505 - bias)
	fmt.Printf("%#x in the file, in %s\n", uint64(0x5555_0000_1505)-bias, im.Symbols().Name(s))
	// Output: 0x1505 in the file, in chain_saves
}
