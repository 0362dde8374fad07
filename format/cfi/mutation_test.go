package cfi_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
)

// TestMutations changes each byte of real sections in turn. Answers may differ, but a row must
// hold for the address that was looked up, and nothing may panic.
func TestMutations(t *testing.T) {
	for _, name := range []string{"arm64-pauth", "s390x"} {
		in := load(t, "testdata/"+name+".so", ".eh_frame", true)
		o := golden(t, name, ".eh_frame")
		data, header := in.data, in.opts.Header
		look := func(what string, at int) {
			s, err := cfi.Open(in.kind, in.data, in.addr, in.opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range o.fdes {
				for _, pc := range []uint64{f.start, (f.start + f.end) / 2, f.end - 1} {
					row, fde, err := s.Row(pc)
					if err == nil && (!row.Contains(pc) || !fde.Contains(pc)) {
						t.Errorf("%s byte %#x: Row(%#x) = %+v of %+v", what, at, pc, row, fde)
					}
				}
			}
			for f, err := range s.FDEs() {
				for range s.Rows(f) {
					if err != nil {
						break
					}
				}
			}
		}
		for _, bits := range []byte{0x01, 0x04, 0x40, 0x80, 0xff} {
			in.opts.Header = header
			for i := range data {
				in.data = slices.Clone(data)
				in.data[i] ^= bits
				look(name+" .eh_frame", i)
			}
			in.data = data
			for i := range header {
				in.opts.Header = slices.Clone(header)
				in.opts.Header[i] ^= bits
				look(name+" .eh_frame_hdr", i)
			}
		}
		// Cut the section short at each byte.
		in.opts.Header = header
		for i := range data {
			in.data = data[:i]
			look(name+" cut", i)
		}
	}
}
