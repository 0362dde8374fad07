package breakpad

import (
	"bytes"
	"fmt"
	"testing"
)

// large is a symbol file of some 64 MiB, with as many records of each type as Firefox's have.
func large() []byte {
	var text bytes.Buffer
	text.WriteString("MODULE Linux x86_64 1 large\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "FILE %d /builds/worker/checkouts/source/directory/file%d.cpp\n", i, i)
	}
	for i := 0; text.Len() < 48<<20; i++ {
		addr := 0x1000 + i*0x100
		fmt.Fprintf(&text, "FUNC %x e0 0 a::name::of::usual_length<int, char const*>::function%d(int, std::string const&)\n", addr, i)
		fmt.Fprintf(&text, "INLINE 0 %d %d 7 %x 20\n", i%1000, i%2000, addr+0x40)
		for k := range 14 {
			fmt.Fprintf(&text, "%x 10 %d %d\n", addr+k*16, i%3000+k, i%2000)
		}
	}
	for i := 0; text.Len() < 64<<20; i++ {
		addr := 0x1000 + i*0x100
		fmt.Fprintf(&text, "STACK CFI INIT %x e0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI %x .cfa: $rsp 16 + $rbp: .cfa -16 + ^\n", addr, addr+1)
	}
	return text.Bytes()
}

func BenchmarkNew(b *testing.B) {
	data := large()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLocate(b *testing.B) {
	data := large()
	f, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	addr := uint64(0x1045)
	for b.Loop() {
		if chain, err := f.Locate(addr); err != nil || len(chain) != 2 {
			b.Fatal(chain, err)
		}
		addr += 0x100
		addr = 0x1000 + addr%(1<<20)
	}
}
