package structs

import "testing"

func TestFill(t *testing.T) {
	type layout struct {
		Next  uint64 `table:"frame.next"`
		Line  uint64 `table:"frame.line,optional"`
		Other uint64
	}
	l := layout{Other: 3}
	if err := Fill("# a release\nframe.next 8\nframe.more 16\n\n", &l); err != nil || l != (layout{8, Absent, 3}) {
		t.Errorf("%+v, %v", l, err)
	}
	for _, wrong := range []string{"", "frame.line 8", "frame.next", "frame.next 8 9", "frame.next -1", "frame.next 0x8", "frame.next 18446744073709551615"} {
		if err := Fill(wrong, &l); err == nil {
			t.Errorf("%q is taken for a table", wrong)
		}
	}
}
