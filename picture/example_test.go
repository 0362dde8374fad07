package picture_test

import (
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/picture"
)

// Write two stacks as flamegraph.pl reads them: one line a stack, the outermost frame first, and
// the count.
func ExampleStacks_WriteFolded() {
	stacks := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	frames := func(names ...string) (list []picture.Place) {
		for _, name := range names {
			list = append(list, picture.Place{Function: name})
		}
		return list
	}
	stacks.Add(frames("read", "parse", "main"), picture.Sample{Values: []int64{7}})
	stacks.Add(frames("parse", "main"), picture.Sample{Values: []int64{2}})
	if err := stacks.WriteFolded(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// main;parse 2
	// main;parse;read 7
}
