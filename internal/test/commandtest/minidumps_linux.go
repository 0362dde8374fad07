package commandtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/xzfile"
)

// Unpack unpacks an .xz file of testdata/breakpad to a folder, and returns its path.
func Unpack(t *testing.T, packed, dir string) string {
	t.Helper()
	b, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	f, err := xzfile.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f.Reader())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(packed), ".xz"))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// DumpSyms has Breakpad's dump_syms write the symbols of files into a store.
func DumpSyms(t *testing.T, store string, files ...string) {
	t.Helper()
	DumpSymsWith(t, store, nil, files...)
}

// DumpSymsWith is [DumpSyms] with options of Breakpad's dump_syms.
func DumpSymsWith(t *testing.T, store string, options []string, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := exec.Command(gdbtest.Breakpad(t, "dump_syms"), append(options[:len(options):len(options)], file)...).Output()
		if err != nil {
			t.Fatalf("dump_syms %s: %v", file, err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		record, err := breakpad.ParseRecord([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		inside, err := record.(breakpad.Module).StorePath()
		path := filepath.Join(store, inside)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	peerThread = regexp.MustCompile(`(?m)^Thread (\d+)`)
	peerPC     = regexp.MustCompile(`\brip = 0x([0-9a-f]+)`)
)

// PeerStacks returns the PCs of each thread's frames as minidump_stackwalk has them, without
// inlined ones.
func PeerStacks(t *testing.T, dump, store string) (stacks [][]uint64) {
	t.Helper()
	out, err := exec.Command(gdbtest.Breakpad(t, "minidump_stackwalk"), dump, store).Output()
	if err != nil {
		t.Fatalf("minidump_stackwalk: %v\n%s", err, out)
	}
	text, _, _ := strings.Cut(string(out), "\nLoaded modules:")
	for _, part := range peerThread.Split(text, -1)[1:] {
		var pcs []uint64
		for _, m := range peerPC.FindAllStringSubmatch(part, -1) {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			pcs = append(pcs, pc)
		}
		stacks = append(stacks, pcs)
	}
	return stacks
}

// LLDBDump has LLDB write a minidump of a process.
func LLDBDump(t *testing.T, pid int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump")
	out, err := exec.Command(gdbtest.Tool(t, "lldb"), "-b", "-x", "-o", fmt.Sprintf("process attach -p %d", pid),
		"-o", "process save-core --plugin-name=minidump --style=stack "+path, "-o", "detach").CombinedOutput()
	if err != nil || strings.Contains(string(out), "error:") {
		t.Fatalf("lldb: %v\n%s", err, out)
	}
	return path
}
