package stacks_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// bomb is a core of one page and n MiB that pack well, packed by xz into less than 1 MB.
func bomb(t *testing.T, n int, args ...string) string {
	t.Helper()
	core, err := os.ReadFile("../../../target/core/testdata/amd64-gdb.core")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bomb")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(gdbtest.Tool(t, args[0]), args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Write(core)
	for block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16); n > 0; n-- {
		in.Write(block)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUnpackedCores: a core that unpacks to more than the limit is refused, and no unpacked file is
// left; the user may raise the limit. A large dictionary in the file's header is not allocated.
func TestUnpackedCores(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	few := bomb(t, 20, "xz", "-0", "-c")
	if out, warnings := commandtest.Bounded(t, "core", few, "--max-unpacked", "30M"); !strings.Contains(out, "#0") {
		t.Errorf("%s%s", out, warnings)
	}
	for _, args := range [][]string{{"xz", "-0", "-c"}, {"zstd", "-q", "-1", "-c"}, {"zstd", "-q", "-1", "--format=lz4", "-c"}, {"zstd", "-q", "--ultra", "-20", "--long=26", "-c"}} {
		if _, warnings := commandtest.Bounded(t, "core", bomb(t, 20, args...), "--max-unpacked", "16M"); !strings.Contains(warnings, "--max-unpacked") {
			t.Errorf("%v: %s", args, warnings)
		}
	}
	if _, warnings := commandtest.Bounded(t, "open", bomb(t, 700, "zstd", "-q", "-1", "-c")); !strings.Contains(warnings, "--max-unpacked") {
		t.Error(warnings)
	}
	data, err := os.ReadFile(few)
	if err != nil {
		t.Fatal(err)
	}
	header := data[12 : 12+4*(int(data[12])+1)]
	header[bytes.Index(header, []byte{0x21, 1})+2] = 40 // 4 GiB
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	if err := os.WriteFile(few, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, warnings := commandtest.Bounded(t, "core", few); !strings.Contains(out, "#0") {
		t.Errorf("%s%s", out, warnings)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
}

// TestPackedHoles: a hole behind a packed core, or in a part of it that is to be skipped, costs
// nothing, and what is before it serves.
func TestPackedHoles(t *testing.T) {
	for _, args := range [][]string{{"xz", "-0", "-c"}, {"zstd", "-q", "-1", "-c"}, {"zstd", "-q", "-1", "--format=lz4", "-c"}} {
		path := bomb(t, 1, args...)
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Fatal(err)
		}
		if out, warnings := commandtest.Bounded(t, "core", path); !strings.Contains(out, "#0") {
			t.Errorf("%v: %s%s", args, out, warnings)
		}
	}
	path := bomb(t, 1, "zstd", "-q", "-1", "-c")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	at := info.Size()
	for range 100 { // skippable frames (RFC 8878, section 3.1.2) of 4 GiB
		if _, err := f.WriteAt([]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}, at); err != nil {
			t.Fatal(err)
		}
		at += 8 + 1<<32 - 1
	}
	if err := f.Truncate(at); err != nil {
		t.Fatal(err)
	}
	if out, warnings := commandtest.Bounded(t, "core", path); !strings.Contains(out, "#0") {
		t.Errorf("frames that are to be skipped: %s%s", out, warnings)
	}
}
