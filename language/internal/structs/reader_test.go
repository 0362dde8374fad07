package structs

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

func TestNumbers(t *testing.T) {
	var spare pages.Spare
	m := memtest.Flat{Lo: 0x1000, Data: []byte{1, 2, 3, 4, 5, 6, 7, 0xf8}}
	little, big := New(amd64.Arch, m, &spare), New(s390x.Arch, m, &spare)
	for _, c := range []struct{ got, want uint64 }{
		{little.Uint(0x1000, 1), 1}, {little.Uint(0x1000, 2), 0x201}, {little.Uint(0x1004, 4), 0xf8070605}, {little.Pointer(0x1000), 0xf807060504030201},
		{big.Uint(0x1000, 2), 0x102}, {big.Uint(0x1004, 4), 0x50607f8}, {big.Pointer(0x1000), 0x1020304050607f8},
		{uint64(little.Int(0x1007, 1)), ^uint64(7)}, {uint64(little.Int(0x1004, 4)), 0xfffffffff8070605}, {uint64(little.Int(0x1000, 4)), 0x4030201},
	} {
		if c.got != c.want {
			t.Errorf("got %#x, want %#x", c.got, c.want)
		}
	}
	if err := little.Err(); err != nil {
		t.Error(err)
	}
	for _, addr := range []uint64{0, 0x1001, 0xfff, ^uint64(0)} {
		if v := little.Pointer(addr); v != 0 || little.OK() {
			t.Errorf("%#x: %#x", addr, v)
		}
		if err := little.Err(); err == nil || !little.OK() {
			t.Errorf("%#x: %v", addr, err)
		}
	}
}

func TestTexts(t *testing.T) {
	var spare pages.Spare
	long := strings.Repeat("x", 2*MostText)
	m := memtest.Flat{Lo: 0x1fc1, Data: []byte("short\x00" + long + "\x00end")}
	r := New(amd64.Arch, m, &spare)
	for _, c := range []struct{ got, want string }{
		{r.CString(0x1fc1), "short"}, {r.CString(0x1fc7), long[:MostText]}, {r.CString(0x1fc7 + 2*MostText - 9), long[:9]},
		{r.Text(0x1fc3, 3), "ort"}, {r.Text(0x1fc7, 1<<60), long[:MostText]}, {r.Text(0x1fc1, 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %.20q, want %.20q", c.got, c.want)
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if s := r.CString(0x1fc7 + 2*MostText + 1); s != "" || r.OK() {
		t.Errorf("text without an end: %q", s)
	}
}
