package breakpad_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

func Example() {
	symbols, err := breakpad.Open("testdata/inlines.sym")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer symbols.Close()
	chain, err := symbols.Locate(0x1064)
	for _, l := range chain {
		fmt.Printf("%s at %s:%d, inlined: %t\n", l.Function, l.File, l.Line, l.Inlined)
	}
	fmt.Println(err)
	// addr2line -a -i -f -e inlines 0x1064 says so, too:
	// Output:
	// once at ./inlines.h:2, inlined: true
	// twice at ./inlines.h:6, inlined: true
	// outer at ./inlines.c:15, inlined: true
	// main at ./inlines.c:20, inlined: false
	// <nil>
}
