package core

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A core that is cut off at any place is opened or refused. Something says what is missing, and
// nothing that is there is lost.
func TestTruncated(t *testing.T) {
	path := kernelCore(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	full := opened(t, path, Options{})
	threads, _ := full.Threads()
	opens := 0
	for n := len(whole); n > 0; n = n * 3 / 4 {
		short := filepath.Join(t.TempDir(), "short")
		if err := os.WriteFile(short, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		tg, err := Open(short, Options{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "core "+short+": ") {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		opens++
		list, _ := tg.Threads()
		if n < len(whole) && !strings.Contains(strings.Join(tg.Warnings(), "\n"), "the core is cut short: ") {
			t.Errorf("%d bytes: warnings %q", n, tg.Warnings())
		}
		if len(list) == len(threads) {
			var a, b arch.Registers
			threads[0].Registers(&a)
			list[0].Registers(&b)
			if a != b {
				t.Errorf("%d bytes: registers differ", n)
			}
		}
		tg.Close()
	}
	if opens < 3 {
		t.Errorf("only %d of the short cores could be opened", opens)
	}
}

func TestCompressed(t *testing.T) {
	path, _ := threadsCore(t)
	var want, got arch.Registers
	threads, _ := opened(t, path, Options{}).Threads()
	threads[0].Registers(&want)
	for _, tt := range []struct{ tool, command, suffix string }{{"zstd", "zstd -k -1", ".zst"}, {"xz", "xz -k -1", ".xz"}, {"lz4", "zstd -k -1 --format=lz4", ".lz4"}} {
		args := append(strings.Fields(tt.command), path)
		if out, err := exec.Command(gdbtest.Tool(t, args[0]), args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", tt.tool, err, out)
		}
		tmp := t.TempDir()
		t.Setenv("TMPDIR", tmp)
		packed := opened(t, path+tt.suffix, Options{})
		list, _ := packed.Threads()
		list[0].Registers(&got)
		if len(list) != len(threads) || got != want || len(packed.Warnings()) > 0 {
			t.Errorf("%s: %d threads, registers equal: %v, warnings %q", tt.tool, len(list), got == want, packed.Warnings())
		}
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("%s: %s is left behind", tt.tool, left[0].Name())
		}
		// A packed core may be cut off in the middle, too.
		text, err := os.ReadFile(path + tt.suffix)
		if err != nil {
			t.Fatal(err)
		}
		short := filepath.Join(t.TempDir(), "short"+tt.suffix)
		if err := os.WriteFile(short, text[:len(text)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		if tg, err := Open(short, Options{}); err == nil {
			if !strings.Contains(strings.Join(tg.Warnings(), "\n"), "cut short") {
				t.Errorf("half of %s: warnings %q", tt.tool, tg.Warnings())
			}
			tg.Close()
		} else if !strings.Contains(err.Error(), tt.tool) && !strings.Contains(err.Error(), "cut short") {
			t.Errorf("half of %s: %v", tt.tool, err)
		}
	}
}

func TestErrors(t *testing.T) {
	path, program := threadsCore(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, b ...byte) []byte {
		text := bytes.Clone(whole)
		copy(text[at:], b)
		return text
	}
	exe, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "not an ELF file: not a core file"},
		{"text", []byte("hello, this is no core file at all"), "not an ELF file"},
		{"program", exe, "a program or a library: give the core file, and this one by --exe"},
		{"vax", changed(18, 75, 0), "unknown architecture"},
		{"32 bits", changed(4, 1), ""},
		{"lz4", []byte{4, 0x22, 0x4d, 0x18, 0, 0, 0, 0}, "no LZ4 frame"},
		{"gzip", []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, "unpack it first, by gzip -d"},
		{"broken zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5, 6}, "zstd: "},
		{"broken xz", []byte{0xfd, '7', 'z', 'X', 'Z', 0, 1, 2, 3, 4, 5, 6}, "xz: "},
		{"headers alone", whole[:64], ""},
		{"no notes", changed(56, 0, 0), "no thread's registers"}, // e_phnum
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		tg, err := Open(file, Options{})
		if err == nil {
			tg.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "core "+file+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for path, want := range map[string]string{"/nonexistent/core": "no such file", t.TempDir(): "not a regular file"} {
		if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
