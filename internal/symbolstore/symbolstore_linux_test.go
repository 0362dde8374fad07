package symbolstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// TestIdentifier: a program is identified by its build ID, and without one by the code that objdump
// shows.
func TestIdentifier(t *testing.T) {
	for _, flag := range []string{"-Wl,--build-id=sha1", "-Wl,--build-id=none"} {
		program := gdbtest.Build(t, "chain.c", "-O1", flag)
		im, file, err := elf.OpenFile(program)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		got, err := Identifier(im)
		if err != nil {
			t.Fatal(err)
		}
		// What is wanted is 16 bytes: the build ID's first ones, or a sum.
		var want [16]byte
		if strings.HasSuffix(flag, "sha1") {
			out, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
			_, id, ok := strings.Cut(string(out), "Build ID: ")
			if err != nil || !ok {
				t.Fatalf("readelf: %v\n%s", err, out)
			}
			for i := range want {
				fmt.Sscanf(id[2*i:2*i+2], "%02x", &want[i])
			}
		} else {
			out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "-O", "binary", "-j", ".text", program, "/dev/stdout").Output()
			if err != nil || len(out) < 64 {
				t.Fatalf("objcopy: %v, %d bytes", err, len(out))
			}
			if len(out) < 4096 { // what is behind the section counts up to a whole block; here that is filled with zeros
				out = append(out, make([]byte, -len(out)&15)...)
			}
			for i, c := range out[:min(len(out), 4096)] {
				want[i%16] ^= c
			}
		}
		text := fmt.Sprintf("%08X%04X%04X%X0", binary.LittleEndian.Uint32(want[:]), binary.LittleEndian.Uint16(want[4:]), binary.LittleEndian.Uint16(want[6:]), want[8:])
		if got != text {
			t.Errorf("%s: %s, want %s", flag, got, text)
		}
	}
}

// TestShared: modules of several targets share an opened file, until it changes.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a", "00112233445566778899AABBCCDDEEFF0", "a.sym")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name+".new", []byte(text), 0o644), os.Rename(name+".new", name)); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *Symbols {
		t.Helper()
		m := target.NewModule("a", []target.Mapping{{Lo: 0x1000, Hi: 0x2000}}, nil)
		m.Identity = &target.Identity{Base: 0x1000, DebugFile: "a", DebugID: "00112233445566778899AABBCCDDEEFF0"}
		s, err := Open(dir, m)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := open(); s != nil {
		t.Error("symbols of an empty store")
	}
	const module = "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 a\n"
	write(module + "PUBLIC 10 0 first\n")
	var all [16]*Symbols
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = open() })
	}
	wait.Wait()
	for _, s := range all {
		if s.File != all[0].File || s.Base != 0x1000 {
			t.Errorf("%p, %#x; want %p", s.File, s.Base, all[0].File)
		}
	}
	write(module + "PUBLIC 10 0 second\n")
	now := open()
	for s, want := range map[*Symbols]string{all[0]: "first", now: "second"} {
		if at, err := s.Locate(0x11); err != nil || len(at) != 1 || at[0].Function != want {
			t.Errorf("%v, %v; want %s", at, err, want)
		}
	}
	runtime.KeepAlive(all)
}
