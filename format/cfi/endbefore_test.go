package cfi_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// For an address that no FDE covers, EndBefore returns the end that readelf gives for the FDE
// before.
func TestBefore(t *testing.T) {
	const path = "/bin/sh"
	out, err := exec.Command(gdbtest.Tool(t, "readelf"), "--debug-dump=frames", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var ends, starts []uint64
	for _, m := range regexp.MustCompile(`FDE cie=[0-9a-f]+ pc=([0-9a-f]+)\.\.([0-9a-f]+)`).FindAllSubmatch(out, -1) {
		lo, _ := strconv.ParseUint(string(m[1]), 16, 64)
		hi, _ := strconv.ParseUint(string(m[2]), 16, 64)
		starts, ends = append(starts, lo), append(ends, hi)
	}
	slices.Sort(starts)
	slices.Sort(ends)
	for _, header := range []bool{true, false} {
		in := load(t, path, ".eh_frame", header)
		s, err := cfi.Open(in.kind, in.data, in.addr, in.opts)
		if err != nil {
			t.Fatal(err)
		}
		gaps := 0
		for i, end := range ends {
			if i+1 == len(starts) || starts[i+1] == end {
				continue
			}
			gaps++
			for _, pc := range []uint64{end, starts[i+1] - 1} {
				if got, ok := s.EndBefore(pc); !ok || got != end {
					t.Errorf("before %#x an FDE ends at %#x, %t; readelf says %#x", pc, got, ok, end)
				}
			}
			if got, ok := s.EndBefore(starts[i]); ok {
				t.Errorf("%#x is covered, and lies behind an FDE that ends at %#x", starts[i], got)
			}
		}
		if _, ok := s.EndBefore(starts[0] - 1); ok || gaps < 10 {
			t.Errorf("%d gaps, or an FDE before the first", gaps)
		}
	}
}
