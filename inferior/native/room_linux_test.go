package native_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
)

// A thread on an alternate stack calls a function if there is room. Inward of that stack is a heap, which could be
// written.
func TestAlternateStack(t *testing.T) {
	for size, why := range map[string]string{"65536": "", "10240": "of its alternate stack are left"} {
		p := start(t, "alt", size)
		p.Rest(t)
		held := p.attach(t, native.Options{})
		c, err := inferior.NewCaller(held, held.Inferiors()[0])
		switch {
		case why != "" && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s bytes: %v, want an error with %q", size, err, why)
		case why == "" && err != nil:
			t.Errorf("%s bytes: %v", size, err)
		case why == "":
			two := abi.Value{Type: long, Bytes: []byte{2, 0, 0, 0, 0, 0, 0, 0}}
			b, err := c.Call(t.Context(), p.symbols["add"], &abi.Func{Result: long, Params: []*abi.Type{long, long}}, []abi.Value{two, two})
			if err != nil || b[0] != 4 {
				t.Errorf("%s bytes: %x, %v", size, b, err)
			}
		}
		held.Close()
	}
}
