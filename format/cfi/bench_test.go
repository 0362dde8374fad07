package cfi_test

import (
	"math/rand"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// benchPCs returns addresses spread over the code that a section covers, in
// random order.
func benchPCs(b *testing.B, s *cfi.Section) []uint64 {
	b.Helper()
	r := rand.New(rand.NewSource(1))
	var pcs []uint64
	for f, err := range s.FDEs() {
		if err != nil {
			b.Fatal(err)
		}
		if f.Len > 0 {
			pcs = append(pcs, f.Start+uint64(r.Int63n(int64(f.Len))))
		}
	}
	r.Shuffle(len(pcs), func(i, j int) { pcs[i], pcs[j] = pcs[j], pcs[i] })
	return pcs
}

func BenchmarkLookUp(b *testing.B) {
	for _, file := range []struct{ name, path string }{
		{"gdb", "/usr/bin/gdb"},
		{"cc1", compiler(b)},
		{"libc", "/lib/x86_64-linux-gnu/libc.so.6"},
	} {
		gdbtest.File(b, file.path)
		for _, mode := range []struct {
			name   string
			header bool
		}{{"header", true}, {"index", false}} {
			s := load(b, file.path, ".eh_frame", mode.header).open(b)
			pcs := benchPCs(b, s)
			if _, err := s.Find(pcs[0]); err != nil {
				b.Fatal(err)
			}
			b.Run(file.name+"/"+mode.name+"/Find", func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					if _, err := s.Find(pcs[i%len(pcs)]); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(file.name+"/"+mode.name+"/Row", func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					if _, _, err := s.Row(pcs[i%len(pcs)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkOpen opens a section, alone and with building the index.
func BenchmarkOpen(b *testing.B) {
	path := gdbtest.File(b, "/usr/bin/gdb")
	in := load(b, path, ".eh_frame", true)
	b.Run("header", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := cfi.Open(in.kind, in.data, in.addr, in.opts); err != nil {
				b.Fatal(err)
			}
		}
	})
	in.opts.Header = nil
	b.Run("index", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			s, err := cfi.Open(in.kind, in.data, in.addr, in.opts)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Find(0); err == nil {
				b.Fatal("found an FDE for address 0")
			}
		}
	})
}
