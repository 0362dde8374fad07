//go:build linux

package lookup

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
)

// functionsOf describes the functions of a file's call frame information in SFrame V3.
func functionsOf(file string) (*sframe.Contents, error) {
	im, f, err := elf.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	source, err := fromcfi.Open(im)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c, _ := source.Contents()
	if len(c.Functions) == 0 {
		return nil, fmt.Errorf("%s: no functions", file)
	}
	return c, nil
}

// sectionOf makes a section of n functions. If c has more, it takes every k-th; if fewer, it
// repeats all, each time behind the last.
func sectionOf(c *sframe.Contents, n int) (*sframe.Section, error) {
	const addr = 1 << 30 // close enough for V2, whose starts are relative
	have := slices.Clone(c.Functions)
	slices.SortFunc(have, func(a, b sframe.Function) int { return cmp.Compare(a.Start, b.Start) })
	last := have[len(have)-1]
	span := last.Start + uint64(last.Size) - have[0].Start
	out := *c
	out.Functions = nil
	for i := range n {
		f := have[i%len(have)]
		if n < len(have) {
			f = have[i*len(have)/n]
		}
		f.Start += uint64(i/len(have)) * span
		out.Functions = append(out.Functions, f)
	}
	data, err := out.Encode(addr)
	if err != nil {
		return nil, err
	}
	return sframe.Open(data, addr)
}

// randomPCs returns n addresses, each at a random place of a random function.
func randomPCs(s *sframe.Section, n int) ([]uint64, error) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pcs := make([]uint64, 0, n)
	for len(pcs) < n {
		f, err := s.FDE(rnd.IntN(int(s.NumFDEs)))
		if err != nil {
			return nil, err
		}
		if f.Size > 0 {
			pcs = append(pcs, f.Start+rnd.Uint64N(uint64(f.Size)))
		}
	}
	return pcs, nil
}
