package snapshot_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// TestOneIDOfMany: what the note says of a thread is said of one, for it may be long, and a core
// may have any number of threads of one ID.
func TestOneIDOfMany(t *testing.T) {
	s := small(amd64.Arch)
	for range 500 {
		s.Threads = append(s.Threads, s.Threads[0])
	}
	file := written(t, s)
	long := strings.Repeat("e", 100_000)
	file = withNote(file, amd64.Arch, []byte(`{"version": 1, "threads": [{"tid": 4242, "name": "`+long+`", "error": "`+long+`"}]}`))
	threads, _ := read(t, file).Threads()
	bytes := 0
	for _, th := range threads {
		bytes += len(th.Name())
		if err := th.(*snapshot.Thread).Err; err != nil {
			bytes += len(err.Error())
		}
	}
	if len(threads) != 503 || bytes < 2*len(long) || bytes > 2*len(long)+503*len("server") {
		t.Errorf("%d threads have %d bytes of text", len(threads), bytes)
	}
}

// TestPackedNote: a small packed file has no note of millions of entries.
func TestPackedNote(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "packed")
	open := func(text []byte) error {
		file := w.EncodeAll(withNote(written(t, small(amd64.Arch)), amd64.Arch, text), nil)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tg, err := snapshot.Open(path, core.Options{Sysroot: "/nonexistent"})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
			t.Errorf("%d MB were allocated", took>>20)
		}
		if err == nil {
			tg.Close()
		}
		return err
	}
	entries := func(n int) []byte {
		return append(append([]byte(`{"version": 1, "threads": [`), bytes.Repeat([]byte(`{},`), n)...), "{}]}"...)
	}
	if err := open(entries(5_000_000)); !errors.Is(err, snapshot.ErrNotSnapshot) {
		t.Errorf("a note of 15 MB in a small file: %v", err)
	}
	if err := open(entries(300_000)); err != nil {
		t.Errorf("a note of 900 KB: %v", err)
	}
}
