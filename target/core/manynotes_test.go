package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// threadNotes are n threads' registers (struct elf_prstatus of amd64) of one ID.
func threadNotes(n int) []byte {
	return bytes.Repeat(elfnote.Append(nil, binary.LittleEndian, "CORE", 1, make([]byte, 336)), n)
}

// written writes a core to a file.
func written(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// packedCore writes a core to a file that zstd has packed.
func packedCore(t *testing.T, data []byte) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, w.EncodeAll(data, nil))
}

// TestManyThreads: a small packed core has no more threads than a process usually has, and says so;
// other cores have all that they have room for.
func TestManyThreads(t *testing.T) {
	data := coreOfNotes(threadNotes(70_000), 1)
	for _, test := range []struct {
		path string
		all  bool
	}{{written(t, data), true}, {packedCore(t, data), false}} {
		tg := opened(t, test.path, Options{})
		said := strings.Join(tg.Warnings(), "\n")
		left := fmt.Sprintf("%d threads are left out", 70_000-len(tg.threads))
		if n := len(tg.threads); test.all != (n == 70_000) || n < usualThreads || !test.all && !strings.Contains(said, left) {
			t.Errorf("%s: %d threads: %s", test.path, n, said)
		}
	}
}

// TestBadNotes: of thousands of notes that cannot be read, the first are said one by one.
func TestBadNotes(t *testing.T) {
	bad := bytes.Repeat(elfnote.Append(nil, binary.LittleEndian, "CORE", 1, make([]byte, 4)), 200_000)
	data := coreOfNotes(append(threadNotes(1), bad...), 1)
	bounds.Hold(t, 24<<20, func() {
		tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{Sysroot: "/nonexistent"})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(tg.Warnings(), "\n"); !strings.Contains(said, "199000 more notes cannot be read") {
			t.Errorf("%d warnings", len(tg.Warnings()))
		}
	})
}

// TestSharedNotes: segments that share their notes have these once.
func TestSharedNotes(t *testing.T) {
	path := written(t, coreOfNotes(threadNotes(2), 500))
	if err := os.Truncate(path, 1<<30); err != nil { // all segments together are smaller than the file claims to be
		t.Fatal(err)
	}
	tg := opened(t, path, Options{})
	if said := strings.Join(tg.Warnings(), "\n"); len(tg.threads) != 2 || !strings.Contains(said, "those after it are left out") {
		t.Errorf("%d threads: %s", len(tg.threads), said)
	}
}

// TestNotesOfHoles: a note that is a hole is not read.
func TestNotesOfHoles(t *testing.T) {
	const size = 60 << 20
	head := elfnote.Append(threadNotes(1), binary.LittleEndian, "CORE", elfnote.Siginfo, nil)
	binary.LittleEndian.PutUint32(head[len(head)-16:], size)
	data := coreOfNotes(head, 1)
	binary.LittleEndian.PutUint64(data[64+32:], uint64(len(head)+size))
	path := written(t, data)
	if err := os.Truncate(path, int64(len(data)+size)); err != nil {
		t.Fatal(err)
	}
	tg := opened(t, path, Options{})
	if said := strings.Join(tg.Warnings(), "\n"); tg.Signal != nil || !strings.Contains(said, "note of type 0x53494749") {
		t.Errorf("signal %v: %s", tg.Signal, said)
	}
}

// TestPackedFiles: a file that a packed core carries is as large as what the core has on disk
// allows, not as what it unpacks to: the memory for its tables is in proportion to that.
func TestPackedFiles(t *testing.T) {
	file := bytes.Repeat([]byte("\x7fELF and what follows"), 1<<20)
	path := packedCore(t, coreOf(file, 1))
	tg := opened(t, path, Options{})
	l := &loader{core: tg.file, carriedAt: map[string]carried{"x": {off: 1000, size: int64(len(file))}}}
	r, size, err := l.carried("x")
	if err != nil || size != int64(len(file)) {
		t.Fatal(size, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if there, most := elffile.There(r, size), 8*max(info.Size(), 4096); there > most || there == 0 {
		t.Errorf("%d bytes of %d are there; the packed file has %d", there, size, info.Size())
	}
	if _, ok := elffile.Identity(r, size); !ok {
		t.Error("equal files are not known as such")
	}
}
