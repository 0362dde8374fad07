package arch

import (
	"fmt"
	"strings"
	"sync"
)

// BreakpadRules are the names that Breakpad's symbol files have for the processor and its
// registers.
type BreakpadRules struct {
	// Module is the processor's name in MODULE records; Module32 is the name of files with 32-bit
	// addresses, if they have another.
	Module, Module32 string
	// Registers returns the names of registers in STACK CFI records, by DWARF number, as Breakpad's
	// reader expects them. "" stands for none.
	Registers func() []string
}

// NamesInOrder returns a function that returns the words of names, in order, for
// BreakpadRules.Registers.
func NamesInOrder(names string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(names) })
}

// NamesFrom returns a function that returns names of registers by their numbers, for
// BreakpadRules.Registers. runs has runs of names by the number of the first name; "r0-r2" stands
// for r0 r1 r2.
func NamesFrom(runs map[int]string) func() []string {
	return sync.OnceValue(func() []string { return numbered(runs) })
}

func numbered(runs map[int]string) []string {
	var list []string
	for at, run := range runs {
		for word := range strings.FieldsSeq(run) {
			prefix := word[:1]
			var lo, hi int
			names := []string{word}
			if n, _ := fmt.Sscanf(word, prefix+"%d-"+prefix+"%d", &lo, &hi); n == 2 {
				names = names[:0]
				for i := lo; i <= hi; i++ {
					names = append(names, fmt.Sprint(prefix, i))
				}
			}
			for _, name := range names {
				for len(list) <= at {
					list = append(list, "")
				}
				list[at] = name
				at++
			}
		}
	}
	return list
}
