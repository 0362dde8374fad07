package amd64

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// TestAfterCall: every call that objdump shows is seen from behind; of the other
// instructions hardly one looks like a call by accident.
func TestAfterCall(t *testing.T) {
	for _, file := range []string{processor.Compile(t, frames, "-O2"), "/bin/bash"} {
		pcs, text := processor.Instructions(t, file)
		im := rowtest.Open(t, file)
		calls, rest, taken := 0, 0, 0
		for _, s := range im {
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
				switch isCall := strings.Contains(text[pc], "call ") || strings.HasSuffix(text[pc], "call"); {
				case isCall && !strings.Contains(text[pc], "syscall"):
					calls++
					if !got {
						t.Errorf("%s %#x: %s: no call seen", file, pc, text[pc])
					}
				default:
					rest++
					if got {
						taken++
					}
				}
			}
		}
		t.Logf("%s: %d calls; %d of %d others look like one", file, calls, taken, rest)
		if calls < 50 || taken*200 > rest {
			t.Errorf("%s: %d calls, %d of %d others taken for one", file, calls, taken, rest)
		}
	}
}

func TestAfterCallForms(t *testing.T) {
	for _, c := range []struct {
		code string
		want bool
	}{
		{"\xe8\x00\x00\x00\x00", true},
		{"\xff\xd0", true},                         // call *%rax
		{"\x41\xff\xd3", true},                     // call *%r11
		{"\xff\x10", true},                         // call *(%rax)
		{"\xff\x14\xc5\x00\x00\x00\x00", true},     // call *0(,%rax,8)
		{"\xff\x15\x00\x00\x00\x00", true},         // call *0(%rip)
		{"\x41\xff\x94\x24\x00\x01\x00\x00", true}, // call *0x100(%r12)
		{"\xff\x54\x24\x08", true},                 // call *8(%rsp)
		{"\xff\xe0", false},                        // jmp *%rax
		{"\xff\x18", false},                        // a far call
		{"\x9a\x00\x00\x00\x00\x00\x00", false},
		{"\x00\x00\x00\x00", false},
		{"", false},
		{"\xff", false},
	} {
		if got := afterCall([]byte(c.code)); got != c.want {
			t.Errorf("% x: %v", c.code, got)
		}
	}
}
