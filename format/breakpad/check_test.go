package breakpad

import (
	"strings"
	"testing"
)

// TestCheck: each fault is found, on its line, and nothing else is.
func TestCheck(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 in\n"
	const cfi = "STACK CFI INIT 100 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, x := range []struct {
		text string
		line int // of the problem; 0 for none
		kind string
	}{
		{"INFO CODE_ID 01\nFUNC 100 20 0 f\nINLINE 0 3 0 0 104 8\nINLINE 1 3 -1 0 104 4\n100 10 1 0\n110 10 2 1\nPUBLIC 200 0 g\n" + cfi + "STACK CFI 108 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n", 0, ""},
		{"FUNC 100 20 0 f\nFUNC 100 20 0 g\n", 0, ""},                                 // folded by the linker
		{"FUNC 100 20 0 f\nFUNC 200 10 0 g\nINLINE 0 1 0 0 104 4\n", 7, wrongOutside}, // of another function
		{"FUNC 100 20 0 f\nINLINE 0 1 0 0 204 4\nFUNC 200 10 0 f\n", 0, ""},           // in another part
		{"FUNC 100 20 0 f\nx\n", 6, wrongUnknown},
		{"FUNC 100 zz 0 f\n", 5, wrongRecord},
		{"MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n", 5, wrongModule},
		{"FILE 0 c.c\n", 5, wrongNumber},
		{"INLINE_ORIGIN 0 x\n", 5, wrongNumber},
		{"FUNC 100 20 0 f\n100 10 1 7\n", 6, wrongNumber},
		{"FUNC 100 20 0 f\nINLINE 0 3 9 0 104 8\n", 6, wrongNumber},
		{"FUNC 100 20 0 f\nINLINE 0 3 0 9 104 8\n", 6, wrongNumber},
		{"FUNC 100 20 0 f\nINLINE 1 3 0 0 104 8\n", 6, wrongDepth},
		{"FUNC 100 20 0 f\nINLINE 0 3 0 0 11c 8\n", 6, wrongOutside},
		{"FUNC 100 20 0 f\n110 11 1 0\n", 6, wrongOutside},
		{"FUNC 100 0 0 f\n", 5, wrongOutside},
		{"100 10 1 0\n", 5, wrongOutside},
		{"FUNC 100 20 0 f\n110 8 1 0\n100 8 1 0\n", 7, wrongOrder},
		{"FUNC 100 20 0 f\n100 8 1 0\n104 8 1 0\n", 7, wrongOverlap},
		{"FUNC 100 20 0 f\nFUNC 110 20 0 g\n", 6, wrongOverlap},
		{"FUNC 100 20 0 f\nFUNC 100 20 0 f\n", 6, wrongRepeated},
		{"PUBLIC 100 0 f\nPUBLIC 100 0 g\n", 6, wrongRepeated},
		{cfi + cfi, 0, ""}, // .debug_frame and .eh_frame
		{cfi + "STACK CFI INIT 110 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 6, wrongOverlap},
		{cfi + "STACK CFI 120 .cfa: $rsp 16 +\n", 6, wrongOutside},
		{cfi + "STACK CFI 108 .cfa: $rsp 16 +\nSTACK CFI 104 .cfa: $rsp 16 +\n", 7, wrongOrder},
		{cfi + "STACK CFI 104 .cfa: $rsp +\n", 6, wrongRules},
		{cfi + "STACK CFI 104 .ra: .ra\n", 6, wrongRules},
		{"STACK CFI INIT 100 20 .cfa: $rsp 8 +\n", 5, wrongRules},
		{"STACK CFI 104 .cfa: $rsp 16 +\n", 5, wrongOutside},
	} {
		c, err := Check(strings.NewReader(head + x.text))
		switch {
		case err != nil:
			t.Errorf("%q: %v", x.text, err)
		case x.line == 0 && len(c.Problems) > 0, x.line > 0 && len(c.Problems) != 1:
			t.Errorf("%q: %v", x.text, c.Problems)
		case x.line > 0 && (c.Problems[0].Line != x.line || c.Problems[0].Kind != x.kind):
			t.Errorf("%q: %v (%s), want line %d (%s)", x.text, c.Problems[0], c.Problems[0].Kind, x.line, x.kind)
		}
	}
	if c, err := Check(strings.NewReader("FUNC 100 20 0 f\n")); err != nil || len(c.Problems) == 0 || c.Problems[0].Kind != wrongModule {
		t.Errorf("without MODULE: %v, %v", c, err)
	}
}
