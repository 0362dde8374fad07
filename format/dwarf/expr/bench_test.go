package expr_test

import (
	"testing"

	. "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/trad"
)

type benchFrame struct{}

func (benchFrame) Register(r trad.Reg) (uint64, bool) { return 0x1000 * uint64(r), r < 64 }
func (benchFrame) Word(addr uint64) (uint64, error)   { return addr * 3, nil }

// BenchmarkPLT evaluates the expression for the CFA in a PLT of x86-64, as a rule of call frame
// information, and as any other expression.
func BenchmarkPLT(b *testing.B) {
	code := []byte{0x77, 8, 0x80, 11, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}
	b.Run("rule", func(b *testing.B) {
		b.ReportAllocs()
		x := Rule{Code: code, AddrSize: 8}
		for range b.N {
			if _, err := x.Eval(benchFrame{}, 0, false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("expression", func(b *testing.B) {
		b.ReportAllocs()
		x, env := expression(code...), context()
		for range b.N {
			if _, err := x.Value(env); err != nil {
				b.Fatal(err)
			}
		}
	})
}
