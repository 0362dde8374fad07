package amd64

import (
	"slices"
	"testing"
)

// TestMakes has the encodings of LEA as Intel's manual has them (volume 2, LEA, and table 2-7).
func TestMakes(t *testing.T) {
	code := []byte{
		0x48, 0x8d, 0x3d, 0xf9, 0x0f, 0, 0, // lea 0xff9(%rip),%rdi: 0x2000
		0x4c, 0x8d, 0x25, 0xf2, 0x0f, 0, 0, // lea 0xff2(%rip),%r12: 0x2000
		0x48, 0x8d, 0x87, 0xeb, 0x0f, 0, 0, // lea 0xfeb(%rdi),%rax
		0x8d, 0x3d, 0xe5, 0x0f, 0, 0, // lea 0xfe5(%rip),%edi: the address is cut
		0x48, 0x8d, 0x05, 0xde, 0xff, 0xff, 0xff, // lea -0x22(%rip),%rax: 0x1000
	}
	for _, c := range []struct {
		address uint64
		want    []int
	}{{0x2000, []int{0, 7}}, {0x1000, []int{27}}, {0x2001, nil}} {
		if got := makes(code, 0x1000, c.address); !slices.Equal(got, c.want) {
			t.Errorf("%#x: %v, want %v", c.address, got, c.want)
		}
	}
	for n := range len(code) {
		makes(code[:n], 0x1000, 0x1000)
	}
}
