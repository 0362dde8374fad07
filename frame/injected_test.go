package frame_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/trad"
)

// A run-time system has made the thread call a function at the place where it was. PREVIOUS is
// looked up at its PC, which is its function's first, and not at PC-1.
func TestInjected(t *testing.T) {
	f := newFake(0x1010, 0x7000, 0x7000,
		0x7010, 0x1100, 0x7020, 0x1200, 0, 0, 0, 0) // at 0x7000: frame records
	injected := fp
	injected.Flags = trad.Injected
	at := map[uint64]trad.Row{0x1010: injected, 0x1100: fp, 0x11ff: {Flags: trad.Outermost, CFA: fp.CFA}}
	pcs, last, err := unwind(t, f, &rows{name: "rows", at: at})
	if want := []uint64{0x1010, 0x1100, 0x1200}; err != nil || !slices.Equal(pcs, want) {
		t.Fatalf("the stack is %#x, %v; want %#x", pcs, err, want)
	}
	inner := last.Next()
	if inner.AddressInBlock() != 0x1100 || last.AddressInBlock() != 0x11ff || inner.Next().Type() != frame.Normal {
		t.Errorf("addresses in block %#x and %#x, type %v", inner.AddressInBlock(), last.AddressInBlock(), inner.Next().Type())
	}
	if err := walktest.New(f.mods, frame.NewTable(amd64.Arch, &rows{name: "rows", at: at})).Check(f, f); err != nil {
		t.Error(err)
	}
}
