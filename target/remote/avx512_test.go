package remote

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// withAVX512 is a stub of amd64 with the registers of gdb's features/i386/64bit-core.xml to
// 64bit-avx512.xml, as avx512.c has them. It offers features.
func withAVX512(features string) *fakeStub {
	s := sleepy()
	s.answers["qSupported*"] += features
	var xml, values strings.Builder
	xml.WriteString(`l<target><architecture>i386:x86-64</architecture>`)
	add := func(name string, value []byte) {
		fmt.Fprintf(&xml, `<reg name="%s" bitsize="%d"/>`, name, 8*len(value))
		values.WriteString(hex.EncodeToString(value))
	}
	for _, r := range amd64.Arch.GDB().Registers {
		add(r.Name, make([]byte, r.Bits/8))
	}
	zmm := func(i int) []byte { return gdbtest.AVX512(fmt.Sprint("zmm", i)) }
	for i := range 16 {
		add(fmt.Sprint("xmm", i), zmm(i)[:16])
	}
	for i := range 16 {
		add(fmt.Sprintf("ymm%dh", i), zmm(i)[16:32])
	}
	for i := range 16 {
		add(fmt.Sprint("xmm", 16+i), zmm(16 + i)[:16])
		add(fmt.Sprintf("ymm%dh", 16+i), zmm(16 + i)[16:32])
	}
	for i := range 8 {
		add(fmt.Sprint("k", i), gdbtest.AVX512(fmt.Sprint("k", i)))
	}
	for i := range 32 {
		add(fmt.Sprintf("zmm%dh", i), zmm(i)[32:])
	}
	xml.WriteString(`</target>`)
	s.answers["qXfer:features:read:target.xml:*"], s.answers["g"] = xml.String(), values.String()
	return s
}

// The registers of AVX-512 are read in full, but for a gdbserver that may have others in their
// place.
func TestAVX512(t *testing.T) {
	const old = ";augmented-libraries-svr4-read+" // gdbserver 13
	intel, amd := "vendor_id\t: GenuineIntel\nflags\t: avx512f\n", "vendor_id\t: AuthenticAMD\nflags\t: avx512f\n"
	for _, test := range []struct {
		features, cpuinfo string
		misplaced         bool
	}{
		{"", "", false},
		{old, "", true},
		{old, amd, true},
		{old, intel, false},
		{old + ";QThreadOptions=3", "", false},
	} {
		s := withAVX512(test.features)
		if test.cpuinfo != "" {
			s.answers["vFile:open:"+hex.EncodeToString([]byte("/proc/cpuinfo"))+",*"] = "F5"
			s.answers["vFile:pread:5,*"] = "F0;"
			s.answers["vFile:pread:5,1e0,0"] = fmt.Sprintf("F%x;%s", len(test.cpuinfo), test.cpuinfo)
		}
		tg, err := s.dial(t, Options{})
		if err != nil {
			t.Fatal(err)
		}
		threads, _ := tg.Threads()
		th := threads[0].(*Thread)
		for i := range amd64.Arch.WideRegs() {
			w := &amd64.Arch.WideRegs()[i]
			if w.Name[0] == 's' {
				continue
			}
			want := gdbtest.AVX512(w.Name)
			if test.misplaced {
				if want = nil; w.Num < amd64.XMM0+16 {
					want = gdbtest.AVX512(w.Name)[:32]
				}
			}
			if b, err := target.ReadWide(th, w); string(b) != string(want) || (err == nil) == (want == nil) {
				t.Errorf("%+v: %s is %x, %v, want %x", test, w.Name, b, err, want)
			}
		}
		err = th.ReadRegister(amd64.XMM0, 0, make([]byte, 64))
		const lacks = "has no bytes 0 to 63 of a register zmm0: "
		if is := err != nil && strings.Contains(err.Error(), lacks+errMisplaced.Error()); is != test.misplaced {
			t.Errorf("%+v: %v", test, err)
		}
		if err := tg.Misplaced(); (err != nil) != test.misplaced {
			t.Errorf("%+v: %v", test, err)
		}
		tg.Close()
	}
}
