package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// memoryCache keeps sections in memory, by their names.
type memoryCache struct {
	mu     sync.Mutex
	kept   map[string][]byte
	keeps  int
	opened int
	reads  int // that succeed, of each section; -1 for all
	closed int
}

func (c *memoryCache) Open(s CompressedSection) InflatedSection {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.kept[s.Name]
	if !ok {
		return nil
	}
	c.opened++
	return &memorySection{bytes.NewReader(data), c, c.reads}
}

func (c *memoryCache) Keep(s CompressedSection, inflate func() (io.Reader, error)) {
	r, err := inflate()
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(r, s.Size))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keeps++
	if err == nil {
		c.kept[s.Name] = data
	}
}

type memorySection struct {
	io.ReaderAt
	of   *memoryCache
	left int
}

func (s *memorySection) ReadAt(p []byte, off int64) (int, error) {
	if s.left == 0 {
		return 0, errors.New("damaged")
	}
	s.left--
	return s.ReaderAt.ReadAt(p, off)
}

func (s *memorySection) Close() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.closed++
	return nil
}

// The sections that were inflated are kept, with the bytes that they have in a file that is not
// compressed. With them, nothing is inflated, and gdb's answers are found; also if they turn out to
// be damaged after any number of reads.
func TestInflated(t *testing.T) {
	file := compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc")
	addresses := addressesOf(t, file, 1, func(name string) bool { return name == "main" || name == "calls_split" })
	answers := askGDB(t, file, addresses)
	packed := filepath.Join(filepath.Dir(file), "packed")
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "--compress-debug-sections=zlib", file, packed).CombinedOutput(); err != nil {
		t.Fatalf("objcopy: %v\n%s", err, out)
	}
	plain, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()

	c := &memoryCache{kept: make(map[string][]byte), reads: -1}
	locate := func() {
		t.Helper()
		for _, entries := range []bool{false, true} {
			s := New(Options{Inflated: c, Entries: entries})
			compare(t, s, packed, answers)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	locate()
	for name, data := range c.kept {
		want, err := plain.Section(name).Data()
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s was not kept as it is: %v", name, err)
		}
	}
	for _, name := range []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"} {
		if s := plain.Section(name); s != nil && c.kept[name] == nil {
			t.Errorf("%s was not kept", name)
		}
	}
	first := len(c.kept)
	if c.opened != first {
		t.Errorf("%d of %d sections were asked for by the second symbolizer", c.opened, first)
	}

	locate()
	if c.keeps != first {
		t.Errorf("%d sections were inflated and kept, then %d more", first, c.keeps-first)
	}
	if c.closed != c.opened {
		t.Errorf("%d sections were opened, %d closed", c.opened, c.closed)
	}

	for c.reads = range 6 {
		clear(c.kept)
		for _, s := range plain.Sections {
			if strings.HasPrefix(s.Name, ".debug_") {
				if c.kept[s.Name], err = s.Data(); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.keeps = 0
		if locate(); c.keeps == 0 {
			t.Errorf("damaged after %d reads: nothing was kept anew", c.reads)
		}
	}
}
