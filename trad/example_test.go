package trad_test

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/trad"
)

// thread is THIS frame's registers, by DWARF's numbers, and the words of the stack.
type thread struct {
	registers map[trad.Reg]uint64
	words     map[uint64]uint64
}

func (t thread) Register(r trad.Reg) (uint64, bool) { v, ok := t.registers[r]; return v, ok }

func (t thread) Word(addr uint64) (uint64, error) {
	if v, ok := t.words[addr]; ok {
		return v, nil
	}
	return 0, errors.New("no such memory")
}

// A row says where a function of amd64 has its caller's registers, once it has set up rbp. It is
// true for every frame there. Applied to one frame, it gives the CFA, and the place of each
// register.
func ExampleRow_Apply() {
	row := trad.Row{
		Lo: 0x1004, Len: 0x40,
		CFA: trad.Rule{Kind: trad.InReg, Reg: 6, Off: 16}, // rbp+16
		RA:  trad.Rule{Kind: trad.Saved, Off: -8},
		FP:  trad.Rule{Kind: trad.Saved, Off: -16},
	}
	this := thread{
		registers: map[trad.Reg]uint64{6: 0x7ff0, 7: 0x7fc0},
		words:     map[uint64]uint64{0x7ff0: 0x8040, 0x7ff8: 0x2010},
	}
	cfa, err := row.Apply(this)
	if err != nil {
		fmt.Println(err)
		return
	}
	ra, _ := row.Place(row.RA, 16, this, cfa)
	fmt.Printf("CFA %#x, return address at %#x\n", cfa, ra.Addr)
	// Output: CFA 0x8000, return address at 0x7ff8
}
