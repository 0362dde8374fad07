package sframe_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/sfwalk/sfwalk/format/sframe"
)

// The bytes and the address of an .sframe section come from debug/elf. Find looks up a PC in it.
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

// A generator of code describes a function and its rows, and gets a section.
func ExampleContents_Encode() {
	saved := sframe.Rule{Kind: sframe.RuleSaved, Off: -16}
	ra := sframe.Rule{Kind: sframe.RuleSaved, Off: -8} // where the header says: FixedRA
	cfa := func(reg uint16, off int32) sframe.Rule {
		return sframe.Rule{Kind: sframe.RuleInReg, Reg: reg, Off: off}
	}
	sp, fp := sframe.AMD64.SP(), sframe.AMD64.FP()
	c := sframe.Contents{
		Version: sframe.V2, ABI: sframe.AMD64, Flags: sframe.FDESorted, FixedRA: -8,
		Functions: []sframe.Function{{
			Start: 0x401000, Size: 0x20,
			Entries: []sframe.Entry{
				{Offset: 0, CFA: cfa(sp, 8), RA: ra, FP: sframe.Rule{Kind: sframe.RuleSame}},
				{Offset: 1, CFA: cfa(sp, 16), RA: ra, FP: saved}, // push %rbp
				{Offset: 4, CFA: cfa(fp, 16), RA: ra, FP: saved}, // mov %rsp,%rbp
			},
		}},
	}
	const addr = 0x402000
	data, err := c.Encode(addr)
	if err != nil {
		log.Fatal(err)
	}
	section, err := sframe.Open(data, addr)
	if err != nil {
		log.Fatal(err)
	}
	row, err := section.Find(0x401010)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(data), "bytes;", row)
	// Output:
	// 59 bytes; [0x401004,0x401020) CFA=r6+16 RA=[CFA-8] FP=[CFA-16]
}
