package dwarf_test

import (
	godwarf "debug/dwarf"
	"debug/elf"
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// The functions of a file, in the order of its debug information.
func Example() {
	file, err := elf.Open("../../testdata/bin/steps-v3")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	section := func(name string) []byte {
		data, err := file.Section(name).Data()
		if err != nil {
			panic(err)
		}
		return data
	}
	info, abbrev, str := section(".debug_info"), section(".debug_abbrev"), section(".debug_str")

	units := dwarf.Units{
		Order: file.ByteOrder, Size: uint64(len(info)),
		Read: func(lo, hi uint64) ([]byte, error) { return info[lo:hi], nil },
	}
	var names []string
	for at := uint64(0); at < units.Size; {
		u, next, err := units.At(at)
		if err != nil {
			panic(err)
		}
		if at = next; u.End == 0 {
			continue // padding
		}
		table := dwarf.New(abbrev[u.Abbrev:], file.ByteOrder)
		abbrevs, err := dwarf.ReadAbbrevs(&table, true, u.Encoding, nil, func(int) error { return nil })
		if err != nil || table.Bad {
			panic("abbreviations are cut off")
		}
		c := dwarf.Cursor{Reader: dwarf.New(info[u.Entry:u.End], file.ByteOrder), Unit: &u, Base: u.Entry}
		for c.More() {
			code := c.ULEB128()
			if code == 0 {
				continue // the end of a list of children
			}
			a := abbrevs.Find(code)
			if a == nil {
				panic("an entry of no abbreviation")
			}
			if a.Tag != godwarf.TagSubprogram {
				c.Skip(a)
				continue
			}
			for _, x := range a.Attrs {
				v := c.Value(x.Form, x.Implicit)
				if x.Attr == godwarf.AttrName && v.Class == dwarf.ClassStr {
					name := dwarf.New(str[v.N:], file.ByteOrder)
					names = append(names, name.String())
				}
			}
		}
	}
	fmt.Println(len(names), "functions:", names[:4])
	// Output: 30 functions: [alarm prctl nocfi_leaf nocfi_stack_pointer]
}
