package symbol

import (
	"debug/elf"
	"os"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Names that are read without their parameters are shown as names that are read whole: of the
// symbols of the library of C++, and of programs that are written in it.
func TestPlainLinkage(t *testing.T) {
	files := append(gdbtest.Glob(t, "/usr/lib/*/libstdc++.so.6"), "/usr/bin/node", "/usr/bin/gdb")
	const least = 1000
	seen, plain := 0, 0
	for _, file := range files {
		f, err := elf.Open(file)
		if err != nil {
			continue
		}
		symbols, _ := f.DynamicSymbols()
		more, _ := f.Symbols()
		f.Close()
		for _, s := range append(symbols, more...) {
			if len(s.Name) > 4 && s.Name[:2] == "_Z" {
				if seen++; seen%7 != 0 && os.Getenv("SFWALK_SOAK") == "" {
					continue
				}
				if !plainLinkage(s.Name) {
					continue
				}
				plain++
				bare := func() string { return filter(s.Name, demangle.NoParams) }
				if got, want := bare(), demangleWhole(s.Name, bare); got != want {
					t.Fatalf("%s: %q, read whole %q", s.Name, got, want)
				}
			}
		}
	}
	if seen < least || plain < seen/20 {
		t.Errorf("%d of %d names: the test does not test", plain, seen)
	}
}
