package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/symbol"
)

// Names of sniffers that there is no room for are said to be left out, and so are warnings.
func TestManyNames(t *testing.T) {
	names := symbol.New(symbol.Options{})
	defer names.Close()
	for _, more := range []int{0, 1} {
		tree := newTree()
		for i := range maxNamed + more {
			tree.nameID(Name{Function: fmt.Sprint(i)})
		}
		tree.nameID(Name{Function: "0"}) // it is known
		namer := NewNamer(names)
		namer.Picture(&Profile{Frequency: 1, Threads: []Thread{{PID: 1, TID: 1}}, stacks: tree.stacks})
		if said := namer.Warnings(); len(said) != more || more > 0 && !strings.Contains(said[0], "65536 different names") {
			t.Errorf("%d names beyond the bound: it says %q", more, said)
		}
	}
	namer := NewNamer(names)
	for i := range 3 * maxSaid {
		namer.say(fmt.Sprint("warning ", i/2))
	}
	if said := namer.Warnings(); len(said) != maxSaid+1 || said[maxSaid-1] != fmt.Sprint("warning ", maxSaid-1) || !strings.Contains(said[maxSaid], "left out") {
		t.Errorf("of many warnings: %q", said)
	}
}
