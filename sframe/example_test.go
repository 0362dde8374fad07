package sframe_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/sfwalk/sfwalk/sframe"
)

// An .sframe section's bytes and address, as debug/elf gives them, answer for
// a PC.
func ExampleSection_Find() {
	data, err := os.ReadFile("testdata/amd64-v3.sframe")
	if err != nil {
		log.Fatal(err)
	}
	section, err := sframe.Open(data, 0x13a88)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(section.Version, section.ABI, section.NumFDEs, "functions")

	for _, pc := range []uint64{0x780, 0xb43, 0x100} {
		row, err := section.Find(pc)
		if errors.Is(err, sframe.ErrNoFDE) {
			fmt.Printf("%#x: not covered\n", pc)
			continue
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%#x: %v\n", pc, row)
	}
	// Output:
	// SFRAME_VERSION_3 SFRAME_ABI_AMD64_ENDIAN_LITTLE 29 functions
	// 0x780: [0x77c,0x7a0) CFA=r6+16 RA=[CFA-8] FP=[CFA-16]
	// 0xb43: [0xb43,0xb99) CFA=[r6-8] RA=[CFA-8] FP=[r6+0]
	// 0x100: not covered
}
