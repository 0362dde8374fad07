package kinds

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unxz returns what an .xz file of testdata unpacks to.
func unxz(t testing.TB, name string) []byte {
	t.Helper()
	r, err := xz.NewReader(bytes.NewReader(read(t, "../../../testdata/breakpad/"+name)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packed by the programs' own formats.
func zstded(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

func xzed(b []byte) []byte {
	var out bytes.Buffer
	w, _ := xz.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func lz4ed(b []byte) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func gziped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// Files that other programs have written are what these programs say.
func TestKinds(t *testing.T) {
	gdbCore, qemuCore := read(t, "../../../target/core/testdata/amd64-gdb.core"), read(t, "../../../target/core/testdata/s390x-qemu.core")
	snapshot := read(t, "../../../target/snapshot/testdata/nap-amd64.snapshot")
	for name, tt := range map[string]struct {
		data       []byte
		kind, verb string
	}{
		"core of gdb":           {gdbCore, "a core file", "core"},
		"core of qemu":          {qemuCore, "a core file", "core"},
		"core of 32 bits":       {read(t, "../../../target/core/testdata/i386-qemu.core"), "a core file", "core"},
		"core, zstd":            {zstded(gdbCore), "a core file", "core"},
		"core, xz":              {xzed(gdbCore), "a core file", "core"},
		"core, lz4":             {lz4ed(gdbCore), "a core file", "core"},
		"core, gzip":            {gziped(gdbCore), "a core file, which gzip has compressed", ""},
		"core, cut":             {gdbCore[:100], "a core file", "core"},
		"snapshot":              {snapshot, "a snapshot of sfwalk", "open"},
		"snapshot, zstd":        {zstded(snapshot), "a snapshot of sfwalk", "open"},
		"snapshot, lz4":         {lz4ed(snapshot), "a snapshot of sfwalk", "open"},
		"minidump":              {unxz(t, "linux_null_dereference.dmp.xz"), "a minidump", "minidump"},
		"minidump, zstd":        {zstded(unxz(t, "linux_null_dereference.dmp.xz")), "a minidump, which is compressed", ""},
		"microdump":             {unxz(t, "microdump-arm.log.xz"), "a log with microdumps", "minidump"},
		"symbols":               {unxz(t, "omap_reorder_bbs.sym.xz"), "a symbol file of Breakpad", ""},
		"perf.data":             {[]byte("PERFILE2\x68\x00\x00\x00"), "a file of perf record", "perf"},
		"jitdump":               {read(t, "../../../cmd/sniffer-perfmap/testdata/jit-node18.dump"), "a jitdump", ""},
		"picture":               {[]byte(`<?xml version="1.0"?><svg/>`), "a picture", ""},
		"zstd, cut":             {zstded(gdbCore)[:6], "a core file", "core"},
		"text, xz":              {xzed([]byte("text")), "a compressed file", ""},
		"text, lz4":             {lz4ed([]byte("text")), "a compressed file", ""},
		"text, gzip":            {gziped([]byte("text")), "a file that gzip has compressed", ""},
		"text":                  {[]byte("text\n"), "", ""},
		"nothing":               {nil, "", ""},
		"ELF, cut":              {gdbCore[:20], "", ""},
		"program of DOS":        {append([]byte("MZ"), make([]byte, 100)...), "", ""},
		"zeros":                 {make([]byte, 10000), "", ""},
		"program of amd64":      {read(t, "../../../testdata/bin/mix-v3"), "a program", ""},
		"page that is no image": {[]byte(`<?xml version="1.0"?><html/>`), "", ""},
	} {
		k, ok := Read(bytes.NewReader(tt.data), int64(len(tt.data)))
		if k.Name != tt.kind || k.Verb != tt.verb || ok != (tt.kind != "") {
			t.Errorf("%s: %+v, %v", name, k, ok)
		}
		// The name counts for nothing.
		path := filepath.Join(t.TempDir(), "x.dmp")
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, is := Of(path); got != k || is != ok {
			t.Errorf("%s: %+v as a file", name, got)
		}
	}
}

// What gcc links is a program or a library as the linker was told.
func TestELF(t *testing.T) {
	source := filepath.Join(t.TempDir(), "x.c")
	if err := os.WriteFile(source, []byte("int f(void) { return 1; } int main(void) { return f(); }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[string]Kind{
		"-no-pie": program, "-fPIE -pie": program, "-static": program, "-static-pie -fPIE": program, "-shared -fPIC": library, "-c": object,
	} {
		out := filepath.Join(t.TempDir(), "out")
		if text, err := exec.Command(gdbtest.Tool(t, "gcc"), append([]string{"-o", out, source}, strings.Fields(flags)...)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", flags, err, text)
		}
		if k, ok := Of(out); k != want || !ok {
			t.Errorf("gcc %s: %+v, want %+v", flags, k, want)
		}
	}
}

// Folders, and what is never opened.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	if k, ok := Of(dir); ok {
		t.Errorf("an empty folder is %+v", k)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.dmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if k, ok := Of(dir); k != dumps || !ok {
		t.Errorf("a folder with a dump is %+v", k)
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), []byte("PERFILE2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, ok := Of(dir); k != perf || !ok {
		t.Errorf("perf's folder is %+v", k)
	}
	if _, ok := Of(filepath.Join(dir, "none")); ok {
		t.Error("there is a file that is not there")
	}
}

// Explain says of a file that a verb cannot read what it is, and nothing of a file that it reads.
func TestExplain(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	coreFile, dumpFile := file("c", read(t, "../../../target/core/testdata/amd64-gdb.core")), file("d", []byte("MDMP"))
	gz := file("z", gziped(read(t, coreFile)))
	if err := errors.New("unpack it first, by gzip -d"); Explain(err, "core", gz) != err {
		t.Error("what to do is said twice")
	}
	exe, text := "../../../testdata/bin/mix-v3", file("t", []byte("text"))
	for _, tt := range []struct{ verb, path, want string }{
		{"core", dumpFile, "bad: it is a minidump: 'sfwalk minidump " + dumpFile + "' reads it"},
		{"minidump", coreFile, "bad: it is a core file: 'sfwalk core " + coreFile + "' reads it"},
		{"perf", coreFile, "bad: it is a core file: 'sfwalk core " + coreFile + "' reads it"},
		{"sframe", coreFile, "bad: it is a core file: 'sfwalk core " + coreFile + "' reads it"},
		{"core", coreFile, "bad"}, {"minidump", dumpFile, "bad"}, {"core", text, "bad"}, {"core", exe, "bad"}, {"sframe", exe, "bad"}, {"symbols", exe, "bad"}, {"core", dir + "/none", "bad"},
	} {
		if got := Explain(io.EOF, tt.verb, tt.path); strings.Replace(got.Error(), "EOF", "bad", 1) != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.verb, tt.path, got, tt.want)
		}
	}
	if Explain(nil, "core", dumpFile) != nil {
		t.Error("no error has become one")
	}
}

func FuzzRead(f *testing.F) {
	for _, path := range []string{"../../../target/core/testdata/amd64-gdb.core", "../../../target/snapshot/testdata/nap-amd64.snapshot", "../../../testdata/bin/mix-v3"} {
		b := read(f, path)
		f.Add(b[:min(len(b), 2048)])
	}
	text := []byte("-----BEGIN BREAKPAD MICRODUMP-----\n")
	for _, b := range [][]byte{text, []byte("MDMP"), append([]byte("MZ"), make([]byte, 64)...), zstded(text), xzed(text), lz4ed(text), gziped(text)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 96<<20, func() { // a window of zstd's, or a dictionary of xz's, and a head
			if k, ok := Read(bytes.NewReader(data), int64(len(data))); ok == (k.Name == "") {
				t.Errorf("%+v, %v", k, ok)
			}
		})
	})
}
