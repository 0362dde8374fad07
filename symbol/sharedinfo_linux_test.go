package symbol

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// fullTarget maps files beside one another. It takes all but the given number of bytes of the room
// that the files have to expand, or nothing if that number is 0.
func fullTarget(t *testing.T, paths []string, left int64) *target.Modules {
	t.Helper()
	var list []*target.Module
	for i, path := range paths {
		im, f, err := elfimage.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		list = append(list, walktest.Map(path, im, testBias+uint64(i)<<32))
	}
	ms := target.NewModules(list, nil)
	for _, m := range list {
		if _, _, err := m.Image(); err != nil {
			t.Fatal(err)
		}
	}
	if im, _, _ := list[0].Image(); left > 0 {
		for n := int64(1 << 30); n > 0; n /= 2 {
			for im.Reserve(n) {
			}
		}
		im.Release(left)
	}
	return ms
}

// The DWARF of many files is not kept all at once, but read again when somebody asks for it. The
// answers stay the same, by one goroutine and by several. The DWARF of one file at a time has to
// fit.
func TestReadAgain(t *testing.T) {
	for _, how := range []string{"one file", "split"} {
		t.Run(how, func(t *testing.T) {
			program, whole := splitProgram(t, "-gdwarf-5", "-gz=zlib")
			dir := filepath.Dir(program)
			if how == "one file" {
				program = whole
			}
			data, err := os.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for i := range 6 {
				path := filepath.Join(dir, fmt.Sprint("copy", i))
				if err := os.WriteFile(path, data, 0o700); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			addresses := textAddresses(t, program, ".text", 300)
			locate := func(ms *target.Modules, s *Symbolizer) (all []string) {
				for _, a := range addresses {
					for i := range paths { // another file each time
						for _, l := range s.Locate(ms, a+testBias+uint64(i)<<32) {
							l.Module = nil
							all = append(all, fmt.Sprintf("%d %#x %+v", i, a, l))
						}
					}
				}
				return all
			}
			opened := func(ms *target.Modules, s *Symbolizer) (n int, warnings []error) {
				for _, m := range ms.All() {
					if x := s.tables(m).elf.dwarf(); x != nil && x.info != nil {
						n++
					}
					warnings = append(warnings, s.Warnings(m)...)
				}
				return n, warnings
			}
			ms, s := fullTarget(t, paths, 0), New(Options{})
			defer s.Close()
			want := locate(ms, s)
			if n, warnings := opened(ms, s); n != len(paths) || len(warnings) > 0 || len(want) < len(paths)*len(addresses) {
				t.Fatalf("%d files are open, %d answers, %v", n, len(want), warnings)
			}
			for left := int64(8 << 10); ; left += left / 8 { // as little as one file needs
				if left > 64<<20 {
					t.Fatal("no room is enough")
				}
				ms, s := fullTarget(t, paths, left), New(Options{})
				defer s.Close()
				got := locate(ms, s)
				n, warnings := opened(ms, s)
				if len(warnings) > 0 {
					continue
				}
				if !reflect.DeepEqual(got, want) || n > len(paths)/2 {
					t.Fatalf("room for %d bytes: %d files are open, and what they say differs: %t", left, n, !reflect.DeepEqual(got, want))
				}
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						if got := locate(ms, s); !slices.Equal(got, want) {
							t.Error("what several goroutines are told differs")
						}
					})
				}
				all.Wait()
				if _, warnings := opened(ms, s); len(warnings) > 0 {
					t.Error(warnings)
				}
				break
			}
		})
	}
}
