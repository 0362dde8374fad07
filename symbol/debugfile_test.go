//go:build linux

package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// split compiles calls.c and moves its debug information to a file of its own.
// The stripped program has a link to it and a build ID.
func split(t *testing.T) (program, debug, buildID string) {
	t.Helper()
	program = compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc", "-Wl,--build-id")
	dir := filepath.Dir(program)
	run(t, dir, "objcopy", "--only-keep-debug", "program", "program.debug")
	run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=program.debug", "program")
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := elfimage.Open(f, 1<<30)
	if err != nil || len(im.BuildID) != 40 {
		t.Fatalf("build ID %q, %v", im.BuildID, err)
	}
	return program, filepath.Join(dir, "program.debug"), im.BuildID
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A stripped program's debug file is found wherever GDB finds it, and where only
// this package looks: below the module's root.
func TestDebugFile(t *testing.T) {
	for _, where := range []string{"beside", "subdirectory", "global", "build ID", "root"} {
		t.Run(where, func(t *testing.T) {
			program, debug, id := split(t)
			whole := filepath.Join(t.TempDir(), "debug")
			run(t, "", "cp", debug, whole)
			global := t.TempDir()
			opts := Options{DebugDirs: []string{global}}
			var answers []answer
			ask := func() {
				answers = askGDB(t, program, textAddresses(t, program, ".text", 1), "set debug-file-directory "+global)
				setCalls(t, answers, whole)
			}
			switch where {
			case "subdirectory":
				move(t, debug, filepath.Join(filepath.Dir(debug), ".debug", "program.debug"))
			case "global":
				move(t, debug, filepath.Join(global, debug))
			case "build ID":
				move(t, debug, filepath.Join(global, ".build-id", id[:2], id[2:]+".debug"))
			case "root":
				ask()
				root := t.TempDir()
				move(t, debug, filepath.Join(root, global, ".build-id", id[:2], id[2:]+".debug"))
				opts.Root = func(m *target.Module) string { return root }
			}
			if answers == nil {
				ask()
			}
			s := New(opts)
			inlined, lines, _ := compare(t, s, program, answers)
			if inlined < 100 || lines < 100 {
				t.Errorf("%d inlined calls, %d lines: the debug file was not read", inlined, lines)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Links below a module's root lead to debug files as after chroot(2). None leads out of the root.
func TestDebugFileInRoot(t *testing.T) {
	program, debug, id := split(t)
	text, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(debug)
	dir := filepath.Dir(program)
	outside := t.TempDir()
	away := filepath.Join(outside, "away")
	write := func(path string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, text, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(away, "program.debug"))
	addr := addressesOf(t, filepath.Join(away, "program.debug"), 1, func(name string) bool { return name == "main" })[0]
	for _, tt := range []struct{ name, link, to, same string }{
		{"build ID", "/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug", away + "/program.debug", away + "/program.debug"},
		{"folder of build IDs", "/debug/.build-id/" + id[:2], away, away + "/" + id[2:] + ".debug"},
		{"link", dir + "/.debug", away, away + "/program.debug"},
		{"file of a link", dir + "/program.debug", strings.Repeat("../", 20) + away[1:] + "/program.debug", away + "/program.debug"},
		{"folder of debug files", "/debug", "../away", "/away" + dir + "/program.debug"},
	} {
		for _, inside := range []bool{false, true} {
			root := filepath.Join(outside, "root")
			link := filepath.Join(root, tt.link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o777), os.Symlink(tt.to, link)); err != nil {
				t.Fatal(err)
			}
			write(filepath.Join(away, id[2:]+".debug"))
			write(filepath.Join(away, dir, "program.debug"))
			if inside {
				write(filepath.Join(root, tt.same))
			}
			ms, bias := mapped(t, program)
			s := New(Options{DebugDirs: []string{"/debug"}, Root: func(*target.Module) string { return root }})
			if got := s.Locate(ms, addr+bias)[0]; (got.Line != 0) != inside {
				t.Errorf("%s, in the root: %t: %+v", tt.name, inside, got)
			}
			s.Close()
			os.RemoveAll(root)
		}
	}
}

// A debug file of another build is refused, and the user is told.
func TestDebugFileMismatch(t *testing.T) {
	program, debug, id := split(t)
	ms, bias := mapped(t, program)
	locate := func(opts Options) (Location, []error) {
		s := New(opts)
		defer s.Close()
		return s.Locate(ms, entryPoint(t, program)+bias)[0], s.Warnings(ms.All()[0])
	}
	refused := func(name string, opts Options) {
		t.Helper()
		l, warnings := locate(opts)
		if l.Named() || l.Line != 0 || len(warnings) != 1 || !errors.Is(warnings[0], ErrMismatch) {
			t.Errorf("%s: %+v, %v", name, l, warnings)
		}
	}
	if l, warnings := locate(Options{DebugDirs: []string{}}); l.Function != "_start" || len(warnings) != 0 {
		t.Fatalf("%+v, %v", l, warnings)
	}
	text, err := os.ReadFile(debug)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(debug, text, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("checksum", Options{DebugDirs: []string{}})

	os.Remove(debug)
	dir := t.TempDir()
	other := compile(t, sources(t), "cc", "calls.c", "-O1", "-g", "-Iinc", "-Wl,--build-id")
	move(t, other, filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"))
	refused("build ID", Options{DebugDirs: []string{dir}})

	// Directories and pipes are neither read nor waited for.
	dir = t.TempDir()
	pipe := filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")
	os.MkdirAll(filepath.Dir(pipe), 0o777)
	run(t, "", "mkfifo", pipe)
	if l, warnings := locate(Options{DebugDirs: []string{dir}}); l.Named() || len(warnings) != 1 {
		t.Errorf("pipe: %+v, %v", l, warnings)
	}
}

// A debug file whose symbols cannot be read to their end says so.
func TestDebugFileHole(t *testing.T) {
	dir := sources(t)
	var many bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&many, ".type f%[1]d, @function\nf%[1]d: nop\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "many.s"), many.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	program := compile(t, dir, "cc", "calls.c", "-O2", "-Iinc", "-Wl,--build-id", "many.s")
	ms, bias := mapped(t, program)
	im, _, err := ms.All()[0].Image()
	if err != nil {
		t.Fatal(err)
	}
	symbols := im.ELF().Sections[slices.IndexFunc(im.ELF().Sections, func(s *elfimage.Section) bool { return s.Type == elf.SHT_SYMTAB })]
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[symbols.Offset+symbols.Size/4:][:symbols.Size/2])
	debugs := t.TempDir()
	debug := filepath.Join(debugs, ".build-id", im.BuildID[:2], im.BuildID[2:]+".debug")
	if err := errors.Join(os.MkdirAll(filepath.Dir(debug), 0o777), os.WriteFile(debug, text, 0o666)); err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Dir(program), "objcopy", "--strip-all", "program")
	ms, _ = mapped(t, program)
	s := New(Options{DebugDirs: []string{debugs}})
	defer s.Close()
	s.Locate(ms, entryPoint(t, program)+bias)
	if w := s.Warnings(ms.All()[0]); len(w) != 1 || !errors.Is(w[0], elffile.ErrHole) {
		t.Errorf("warnings: %v", w)
	}
}

func entryPoint(t *testing.T, file string) uint64 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Entry
}

// miniDebug strips calls.c's program, and adds .gnu_debugdata as Fedora does.
func miniDebug(t *testing.T, xz string) (program string) {
	t.Helper()
	program = compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc")
	gdbtest.Tool(t, "xz")
	run(t, filepath.Dir(program), "sh", "-ec", `
		nm -D program --format=posix --defined-only | awk '{ print $1 }' | sort > dynsyms
		nm program --format=posix --defined-only | awk '{ if ($2 == "T" || $2 == "t" || $2 == "D") print $1 }' | sort > funcsyms
		comm -13 dynsyms funcsyms > keep
		objcopy --only-keep-debug program full
		objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep full mini
		`+xz+` mini
		objcopy -S --add-section .gnu_debugdata=mini.xz program`)
	return program
}

func TestMiniDebug(t *testing.T) {
	program := miniDebug(t, "xz -T2") // with sizes in its blocks, as is usual since xz 5.6
	addresses := textAddresses(t, program, ".text", 1)
	s := New(Options{})
	_, _, symbols := compare(t, s, program, askGDB(t, program, addresses))
	if symbols < 300 {
		t.Errorf("%d names: .gnu_debugdata was not read", symbols)
	}
}

// Damage to .gnu_debugdata always gives a warning, and never costs more than allowed.
func TestMiniDebugDamaged(t *testing.T) {
	f, err := os.Open(miniDebug(t, "xz -T1"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := elfimage.Open(f, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	packed, _, err := im.Section(".gnu_debugdata")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := unpack(new(elfimage.Image), packed)
	if err != nil || !strings.HasPrefix(string(whole), elf.ELFMAG) {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	for i := range packed {
		if _, err := unpack(new(elfimage.Image), packed[:i]); err == nil {
			t.Errorf("cut off after %d of %d bytes: no error", i, len(packed))
		}
		damaged := append([]byte(nil), packed...)
		damaged[i] ^= 0x10
		if data, err := unpack(new(elfimage.Image), damaged); err == nil && !bytes.Equal(data, whole) {
			t.Errorf("byte %d changed: no error", i)
		}
	}
	huge := append([]byte(nil), packed...)
	huge[12+4] = 40 // 4 GiB of dictionary, in a header of 12 bytes, without sizes
	binary.LittleEndian.PutUint32(huge[12+8:], crc32.ChecksumIEEE(huge[12:12+8]))
	if data, err := unpack(new(elfimage.Image), huge); err != nil || !bytes.Equal(data, whole) {
		t.Errorf("dictionary of 4 GiB: %d bytes, %v", len(data), err)
	}
}

// A C library as the distribution ships it, with its debug file (if it is
// installed) and without.
func TestLibc(t *testing.T) {
	gdbtest.NeedAMD64(t)
	libc := gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6")
	addresses := textAddresses(t, libc, ".text", 211)
	addresses = append(addresses, textAddresses(t, libc, ".plt", 7)...)
	t.Run("stripped", func(t *testing.T) {
		none := t.TempDir()
		_, _, symbols := compare(t, New(Options{DebugDirs: []string{none}}), libc,
			askGDB(t, libc, addresses, "set debug-file-directory "+none))
		if symbols < 500 {
			t.Errorf("%d names", symbols)
		}
	})
	t.Run("debug", func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		answers := askGDB(t, libc, addresses)
		ms, _ := mapped(t, libc)
		im, _, err := ms.All()[0].Image()
		if err != nil {
			t.Fatal(err)
		}
		if debug := "/usr/lib/debug/.build-id/" + im.BuildID[:2] + "/" + im.BuildID[2:] + ".debug"; s.DebugFile(ms.All()[0]) != nil {
			setCalls(t, answers, debug)
		}
		_, lines, _ := compare(t, s, libc, answers)
		if lines == 0 {
			gdbtest.Missing(t, "the C library's debug file is not installed (apt-get install libc6-dbg)")
		}
	})
}

// Sections compressed by zstd are read; gdb is asked about the file before.
func TestZstd(t *testing.T) {
	file := compile(t, sources(t), "cc", "calls.c", "-O2", "-g", "-Iinc")
	addresses := addressesOf(t, file, 1, func(name string) bool { return name == "main" || name == "calls_split" })
	answers := askGDB(t, file, addresses)
	dir := filepath.Dir(file)
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "--compress-debug-sections=zstd", file, dir+"/packed").CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("objcopy does not know zstd: %s", out))
	}
	compressed := 0
	f, err := elf.Open(dir + "/packed")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			compressed++
		}
	}
	inlined, lines, _ := compare(t, New(Options{}), dir+"/packed", answers)
	if compressed == 0 || inlined < 100 || lines < 100 {
		t.Errorf("%d compressed sections, %d inlined calls, %d lines", compressed, inlined, lines)
	}
}

// The symbols of a C++ library.
func TestLibstdcxx(t *testing.T) {
	gdbtest.NeedAMD64(t)
	lib := gdbtest.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
	none := t.TempDir()
	answers := askGDB(t, lib, textAddresses(t, lib, ".text", 491), "set debug-file-directory "+none)
	if _, _, symbols := compare(t, New(Options{DebugDirs: []string{none}}), lib, answers); symbols < 500 {
		t.Errorf("%d names", symbols)
	}
}
