package stub_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target/remote"
)

// A long double is found wherever the stub has the top of the x87's stack: qemu's before release 10
// has it in another place than GDB looks for it. Where the function has used all registers, it
// cannot be told which stub this is, but gdbserver is known.
func TestX87(t *testing.T) {
	longDouble := &abi.Type{Kind: abi.X87, Size: 16}
	for _, processor := range slices.Concat([]string{"amd64"}, models) {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := buildProgram(t, processor, "x87.c")
			held := dial(t, p.serve(t), remote.Options{})
			c, err := inferior.NewCaller(held, p.to(t, held, "main"))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time, registers are what the first has left behind
				for function, want := range map[string]string{"seven": "00000000000000e00140", "eight": "00000000000000800240"} {
					b, err := c.Call(t.Context(), p.symbols[function], &abi.Func{Result: longDouble}, nil)
					switch number, _ := hex.DecodeString(want); {
					case function == "eight" && processor != "amd64":
						if err == nil || !strings.Contains(err.Error(), "the function has used them all") {
							t.Errorf("%s(): %x, %v", function, b, err)
						}
					case err != nil || !bytes.HasPrefix(b, number):
						t.Errorf("%s(): %x, %v, want %s", function, b, err, want)
					}
				}
			}
		})
	}
}
