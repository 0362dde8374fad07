package s390x

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// TestAfterCall: every call that objdump shows is seen from behind; of the other
// instructions hardly one looks like a call by accident.
func TestAfterCall(t *testing.T) {
	for _, file := range []string{processor.Compile(t, frames, "-O2"), library(t, "libc.so.6")} {
		pcs, text := processor.Instructions(t, file)
		calls, rest, taken := 0, 0, 0
		for _, s := range rowtest.Open(t, file) {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			for i, pc := range pcs {
				if pc < s.Addr || i+1 == len(pcs) || pcs[i+1] > s.Addr+s.Size {
					continue
				}
				end := int(pcs[i+1] - s.Addr)
				got := afterCall(data[max(0, end-arch.MaxCall):end])
				op, args, _ := strings.Cut(text[pc], "\t")
				switch op {
				case "brasl", "bras", "bas", "basr":
					if !strings.HasPrefix(args, "%r14,") {
						break
					}
					calls++
					if !got {
						t.Errorf("%s %#x: %s: no call seen", file, pc, text[pc])
					}
					continue
				}
				rest++
				if got {
					taken++
				}
			}
		}
		t.Logf("%s: %d calls; %d of %d others look like one", file, calls, taken, rest)
		if calls < 50 || taken*1000 > rest {
			t.Errorf("%s: %d calls, %d of %d others taken for one", file, calls, taken, rest)
		}
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
