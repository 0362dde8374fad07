package s390x

import (
	"slices"
	"strings"
	"testing"
)

func TestAfterCall(t *testing.T) {
	for _, file := range []string{processor.Compile(t, frames, "-O2"), library(t, "libc.so.6")} {
		processor.AfterCall(t, file, 50, 1, func(text string) bool {
			op, args, _ := strings.Cut(text, "\t")
			return slices.Contains([]string{"brasl", "bras", "bas", "basr"}, op) && strings.HasPrefix(args, "%r14,")
		})
	}
}

func TestAfterCallForms(t *testing.T) {
	for _, c := range []struct {
		code string
		want bool
	}{
		{"\xc0\xe5\x00\x00\x00\x10", true},  // brasl %r14
		{"\xa7\xe5\x00\x10", true},          // bras %r14
		{"\x0d\xe1", true},                  // basr %r14,%r1
		{"\x4d\xe0\x10\x00", true},          // bas %r14,0(%r1)
		{"\x0d\xe0", false},                 // basr %r14,%r0 does not branch
		{"\xa7\xd5\x00\x10", false},         // bras %r13, over constants
		{"\xc0\x05\x00\x00\x00\x10", false}, // brasl %r0, to a profiler
		{"\xc0\xf4\x00\x00\x00\x10", false}, // jg
		{"\x07\xfe", false},                 // br %r14
		{"\xe5\x00\x00\x00\x10", false},
		{"", false},
		{"\xe1", false},
	} {
		if got := afterCall([]byte(c.code)); got != c.want {
			t.Errorf("% x: %v", c.code, got)
		}
	}
}
