package dotnet_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A machine is a run time of .NET: a folder of it, or a program of one file that has it within.
type machine struct {
	name    string
	command string // that runs an assembly; "" for a program of one file
	host    string // that program; its assembly is put in the place of a test's
}

// dotnets returns the run times that this machine has: each in PATH and at usual places, and what
// is in .cache/dotnet. 'make rest' puts some there (testdata/fetch.sh).
func dotnets(t testing.TB) (list []machine) {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.Later(t, "dotnet")
	cache := gdbtest.Testdata(t, "..", ".cache", "dotnet")
	entries, _ := os.ReadDir(cache) // none if there is no such folder
	var names []string
	for _, e := range entries {
		at := filepath.Join(cache, e.Name())
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			list = append(list, machine{name: e.Name(), host: at})
		} else {
			names = append(names, filepath.Join(at, "dotnet"))
		}
	}
	if path, err := exec.LookPath("dotnet"); err == nil {
		names = append(names, path)
	}
	names = append(names, "/usr/lib/dotnet/dotnet", "/usr/share/dotnet/dotnet")
	seen := map[string]bool{}
	for _, name := range names {
		at, err := filepath.EvalSymlinks(name)
		if info, missing := os.Stat(at); err == nil && missing == nil && info.Mode().IsRegular() && !seen[at] {
			seen[at] = true
			list = append(list, machine{name: filepath.Base(filepath.Dir(name)), command: at})
		}
	}
	if len(list) == 0 {
		gdbtest.Cannot(t, "it has no run time of .NET, and packages of pip and npm were not to be had (testdata/fetch.sh)")
	}
	return list
}

// start starts testdata's assembly of that name.
func (d *machine) start(t testing.TB, name string, args ...string) *gdbtest.Process {
	t.Helper()
	path, own := d.runs(t, name)
	return gdbtest.StartRunning(t, path, append(own, args...)...)
}

// dies starts testdata's assembly of that name in a folder. The program dies when it has begun to
// work, and leaves a core file there, with what the filter of core files has.
func (d *machine) dies(t testing.TB, dir, filter, name string, args ...string) *gdbtest.Process {
	t.Helper()
	const script = `cd "$1"; echo "$2" >/proc/self/coredump_filter; ulimit -c unlimited; shift 2; exec "$@"`
	path, own := d.runs(t, name)
	all := append([]string{"-c", script, "sh", dir, filter, path}, own...)
	return gdbtest.StartRunning(t, "/bin/sh", append(all, append(args, "die")...)...)
}

// runs returns the command that runs testdata's assembly of that name.
func (d *machine) runs(t testing.TB, name string) (path string, args []string) {
	t.Helper()
	dir := "testdata"
	if d.command == "" {
		dir = "testdata/embedded" // such a program finds no lines beside itself
	}
	assembly, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if d.command != "" {
		return d.command, []string{assembly}
	}
	return bundled(t, d.host, assembly), nil
}

// bundleMark stands behind the place where a program of one file has the offset of the list of its
// files.
var bundleMark = []byte{
	0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38, 0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
	0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18, 0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae,
}

// bundled returns a copy of a program of one file (bundles of version 6) that runs another
// assembly.
func bundled(t testing.TB, host, assembly string) string {
	t.Helper()
	b, err := os.ReadFile(host)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(assembly)
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	mark := bytes.Index(b, bundleMark)
	if mark < 8 {
		t.Fatalf("%s has no files within", host)
	}
	at := int(order.Uint64(b[mark-8:]))
	text := func() string { // shorter than 128 bytes
		n := int(b[at])
		at += 1 + n
		return string(b[at-n : at])
	}
	files := int(order.Uint32(b[at+8:]))
	at += 12
	text()
	at += 40
	wanted := filepath.Base(host) + ".dll"
	for ; files > 0; files-- {
		entry := at
		if at += 25; text() != wanted {
			continue
		}
		for len(b)%4096 != 0 {
			b = append(b, 0)
		}
		order.PutUint64(b[entry:], uint64(len(b)))
		order.PutUint64(b[entry+8:], uint64(len(program)))
		order.PutUint64(b[entry+16:], 0) // not compressed
		out := filepath.Join(t.TempDir(), filepath.Base(host))
		if err := os.WriteFile(out, append(b, program...), 0o700); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("%s lacks %s", host, wanted)
	return ""
}
