//go:build linux

package cplusplus

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
)

// Profile returns n different addresses of a program's functions, in the order in which a profiler
// might find them: any function, whatever its unit, is as likely as another one, whatever its
// length. All calls return the same ones.
func Profile(path string, n int) ([]uint64, error) { return choose(path, n, true) }

// Random returns n addresses of a program's functions; an instruction is as likely as another one.
// All calls return the same ones.
func Random(path string, n int) ([]uint64, error) { return choose(path, n, false) }

func choose(path string, n int, byFunction bool) ([]uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var functions []elf.Symbol
	bytes := uint64(0) // of all functions
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Size > 0 {
			functions = append(functions, s)
			bytes += s.Size
		}
	}
	if uint64(n) > bytes/4 {
		return nil, fmt.Errorf("%s: %d addresses of %d bytes of functions", path, n, bytes)
	}
	random := rand.New(rand.NewPCG(1, 1))
	seen := make(map[uint64]bool, n)
	list := make([]uint64, 0, n)
	for len(list) < n {
		s := functions[random.IntN(len(functions))]
		if !byFunction && random.Uint64N(1<<14) >= s.Size { // the longer, the likelier
			continue
		}
		addr := s.Value + random.Uint64N(s.Size)
		if !seen[addr] {
			seen[addr] = true
			list = append(list, addr)
		}
	}
	return list, nil
}
