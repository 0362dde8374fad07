package external

import "testing"

func TestTail(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"one\n", "one"},
		{"1\n2\n3\n4\n", "2; 3; 4"},
		{"panic: a\n\ngoroutine 1 [running]:\n", "panic: a"},
		{"1\n2\n3\npanic: a\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: a"},
		{"1\npanic: said\n2\nfatal error: b\n\nruntime stack:\n", "fatal error: b"},
		{"1\n2\n\x1b[2Jpanic: a\n", "1; 2; \ufffd[2Jpanic: a"},
	} {
		var end tail
		if _, err := end.Write([]byte(tt.text)); err != nil {
			t.Fatal(err)
		}
		if got := end.end(); got != tt.want {
			t.Errorf("of %q the end is %q, want %q", tt.text, got, tt.want)
		}
	}
}
