package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// batchOf makes a folder with n dumps of one process, one that is broken and a file that is none,
// and a store of its symbols.
func batchOf(t *testing.T, n int) (dir, store string, paths []string) {
	t.Helper()
	program := gdbtest.Build(t, "chain.c", "-O2", "-gdwarf-4", "-static")
	p := gdbtest.Start(t, program)
	dir, store = t.TempDir(), t.TempDir()
	commandtest.DumpSyms(t, store, program)
	first := filepath.Join(dir, "d0000.dmp")
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", first, "--format", "minidump"); err != nil {
		t.Fatal(err)
	}
	paths = []string{first}
	for i := 1; i < n; i++ {
		path := filepath.Join(dir, fmt.Sprintf("d%04d.dmp", i))
		if i == n/2 {
			path = filepath.Join(dir, fmt.Sprintf("d%04d", i), "inside.MDMP")
			os.Mkdir(filepath.Dir(path), 0o755)
		}
		if err := os.Link(first, path); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	bad := filepath.Join(dir, "e-broken.dmp")
	if err := errors.Join(os.WriteFile(bad, []byte("MDMP, but no more"), 0o644), os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir, store, append(paths, bad)
}

// batchRun runs sfwalk with what is on standard input, and calls each with each line.
func batchRun(ctx context.Context, in string, each func(line []byte), args ...string) error {
	root := commandtest.New(args)
	root.SetIn(strings.NewReader(in))
	root.SetOut(writerFunc(each))
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// TestBatch: a line for each dump, in their order, each as the dump alone gives it, whether the
// modules' files are at hand or not; bad ones say so, and cost themselves.
func TestBatch(t *testing.T) {
	dir, store, paths := batchOf(t, 20)
	for _, args := range [][]string{{dir, "--sysroot", t.TempDir()}, {"-", "--sysroot", t.TempDir()}, {dir, "--sysroot", "/"}} {
		alone, _, err := commandtest.Run(append([]string{"minidump", paths[0], "--json", "--symbols", store}, args[1:]...)...)
		if err != nil && !errors.Is(err, exit.ErrEarly) {
			t.Fatal(err)
		}
		var lines []string
		err = batchRun(t.Context(), strings.Join(paths, "\n")+"\n\n", func(b []byte) { lines = append(lines, string(b)) },
			append([]string{"minidump", "--symbols", store}, args...)...)
		if err == nil || err.Error() != "1 of 21 dumps cannot be read" || len(lines) != len(paths) {
			t.Fatalf("%v: %v, %d lines", args, err, len(lines))
		}
		for i, line := range lines {
			var one struct{ Minidump, Error string }
			if err := json.Unmarshal([]byte(line), &one); err != nil || one.Minidump != paths[i] || (one.Error != "") != (i == len(paths)-1) || strings.Count(line, "\n") != 1 {
				t.Errorf("%v: line %d: %v, %s", args, i, err, line)
			}
			var got, want any
			json.Unmarshal([]byte(line), &got)
			json.Unmarshal([]byte(strings.Replace(alone, paths[0], paths[i], 1)), &want)
			if one.Error == "" && !reflect.DeepEqual(got, want) {
				t.Errorf("line %d:\n%salone\n%s", i, line, alone)
			}
		}
	}
	if err := batchRun(t.Context(), "", func([]byte) { t.Error("a line of nothing") }, "minidump", "-"); err != nil {
		t.Error(err)
	}
	if _, _, err := commandtest.Run("minidump", dir, "--info"); !errors.As(err, new(exit.Usage)) {
		t.Error(err)
	}
}

// TestBatchEnds: Ctrl-C ends a batch between two dumps.
func TestBatchEnds(t *testing.T) {
	dir, store, paths := batchOf(t, 60)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := batchRun(ctx, "", func([]byte) {
		if n++; n == 3 {
			cancel()
		}
	}, "minidump", dir, "--symbols", store)
	if !errors.Is(err, exit.ErrInterrupted) || n != 3 {
		t.Errorf("%v, %d of %d lines", err, n, len(paths))
	}
}

// TestBatchMemory: what many dumps take of memory and of open files does not grow with their
// number.
func TestBatchMemory(t *testing.T) {
	dir, store, _ := batchOf(t, 300)
	live := map[int]uint64{}
	open := map[int]int{}
	n := 0
	err := batchRun(t.Context(), "", func([]byte) {
		if n++; n == 50 || n == 290 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			files, _ := os.ReadDir("/proc/self/fd")
			live[n], open[n] = m.HeapAlloc, len(files)
		}
	}, "minidump", dir, "--symbols", store)
	if err == nil || n != 301 {
		t.Fatalf("%v, %d lines", err, n)
	}
	if live[290] > live[50]+4<<20 || open[290] > open[50]+20 {
		t.Errorf("memory %v, open files %v", live, open)
	}
}
