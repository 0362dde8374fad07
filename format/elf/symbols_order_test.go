package elf

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The buckets that symbols are sorted by ascend as addresses do, wherever a file's segments are.
func TestBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, segments := range [][]elf.ProgHeader{
		nil,
		{{Type: elf.PT_LOAD, Vaddr: 0x400000, Memsz: 0x123456}},
		{{Type: elf.PT_LOAD, Memsz: 1}},
		{{Type: elf.PT_LOAD, Memsz: 1 << 40}, {Type: elf.PT_LOAD, Vaddr: 1<<64 - 2, Memsz: 1}},
		{{Type: elf.PT_LOAD, Vaddr: 1 << 63, Memsz: 1 << 20}, {Type: elf.PT_LOAD, Vaddr: 1<<64 - 2, Memsz: 5}},
	} {
		im := &Image{Progs: segments, size: 1 << 20}
		by := im.buckets(nil, 100_000)
		if last := by.of(^uint64(0)); last != by.last || last > 1<<16 || by.of(0) > last {
			t.Errorf("%v: the last bucket is %#x, of %#x", segments, last, by.last)
		}
		addrs := make([]uint64, 1000)
		for i := range addrs {
			addrs[i] = r.Uint64() >> r.IntN(64)
		}
		slices.Sort(addrs)
		if !slices.IsSortedFunc(addrs, func(a, b uint64) int { return cmp.Compare(by.of(a), by.of(b)) }) {
			t.Errorf("%v: the buckets do not ascend", segments)
		}
	}
}

// torn is a file with a byte that cannot be read, after it was read some times.
type torn struct {
	io.ReaderAt
	at    int64
	times int
}

var errTorn = errors.New("the disk is torn")

func (r *torn) ReadAt(p []byte, off int64) (int, error) {
	if r.at < off || r.at >= off+int64(len(p)) {
		return r.ReaderAt.ReadAt(p, off)
	}
	if r.times--; r.times >= 0 {
		return r.ReaderAt.ReadAt(p, off)
	}
	n, _ := r.ReaderAt.ReadAt(p[:r.at-off], off)
	return n, errTorn
}

// A table that cannot be read to its end is left out, with a word: the last function before the end
// could seem to reach over others. That is so whenever the end is lost: the table is read twice.
func TestTornTable(t *testing.T) {
	const global, local = 12_000, 9_000
	var source bytes.Buffer
	for i := range global + local {
		if i < global {
			fmt.Fprintf(&source, ".globl f%d\n", i)
		}
		fmt.Fprintf(&source, ".type f%[1]d, @function\nf%[1]d: nop\n.size f%[1]d, 1\n", i)
	}
	name := filepath.Join(t.TempDir(), "many.so")
	cmd := exec.Command(gdbtest.Tool(t, "cc"), "-shared", "-nostdlib", "-o", name, "-x", "assembler", "-")
	cmd.Stdin = &source
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kept := int64(0)
	for times, n := range []int{global, global, global + local} {
		r := &torn{ReaderAt: bytes.NewReader(data), at: -1, times: times}
		im, err := Open(r, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		im.Join(new(Budget))
		left := im.Budget().kept.Load()
		table := im.ELF().Sections[slices.IndexFunc(im.ELF().Sections, func(s *Section) bool { return s.Type == elf.SHT_SYMTAB })]
		r.at = int64(table.Offset + table.Size*3/4)
		ss, err := im.Symbols(), im.SymbolsError()
		if ss.Len() != n || errors.Is(err, errTorn) != (n == global) || n != global && err != nil {
			t.Errorf("read %d times: %d functions, %v; want %d", times, ss.Len(), err, n)
		}
		if s := ss.At(n / 2); !ss.Begins(s.Addr, ss.Name(s)) || !strings.HasPrefix(ss.Name(s), "f") {
			t.Errorf("read %d times: %+v is %q", times, s, ss.Name(s))
		}
		switch now := left - im.Budget().kept.Load(); {
		case times == 0:
			kept = now
		case n == global && now != kept:
			t.Errorf("read %d times: %d bytes are kept; never, %d", times, now, kept)
		}
	}
}

// Of the symbols of one address, the one with the fewest underscores in front has the name, and
// the size that the address has. A mapping symbol ($d) names no code.
func TestBestName(t *testing.T) {
	source := ".globl first, _first, write, __libc_write, after\n" +
		".type __libc_write, @function\n.type write, @function\n.type after, @function\n" +
		"__libc_write: write: .skip 16, 0x90\n" +
		"_label: \"$d\": .skip 16, 0x90\n" +
		"_first: first: .skip 8, 0x90\n.size _first, 8\n.type _first, @function\n" +
		"after: nop\n"
	name := filepath.Join(t.TempDir(), "best.so")
	cmd := exec.Command(gdbtest.Tool(t, "cc"), "-shared", "-nostdlib", "-o", name, "-x", "assembler", "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	im := openFile(t, name)
	ss := im.Symbols()
	at := im.ELF().Section(".text").Addr
	for _, want := range []struct {
		off, size uint64
		name      string
	}{{0, 16, "write"}, {15, 16, "write"}, {16, 16, "_label"}, {31, 16, "_label"}, {32, 8, "_first"}, {39, 8, "_first"}, {40, 1, "after"}} {
		if s, ok := ss.Find(at + want.off); !ok || ss.Name(s) != want.name || s.Size != want.size {
			t.Errorf("at %d: %q of %d bytes; want %q of %d", want.off, ss.Name(s), s.Size, want.name, want.size)
		}
	}
}
