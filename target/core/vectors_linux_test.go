package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Vector registers are gdb's, whatever the size of the extended state: AMX adds 8 KiB to it.
func TestVectors(t *testing.T) {
	program := gdbtest.Build(t, "vectorcrash.c", "-O1", "-mavx")
	core := filepath.Join(t.TempDir(), "core")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run", "-ex", "generate-core-file "+core, program).CombinedOutput()
	if strings.Contains(string(out), "SIGILL") {
		gdbtest.Cannot(t, "the processor has no AVX")
	}
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	said := gdbtest.Batch(t, []string{program, core}, "p/x $ymm0.v4_int64", "p/x $ymm15.v4_int64")
	for _, want := range []string{"{0x1, 0x2, 0x3, 0x4}", "{0xf01, 0xf02, 0xf03, 0xf04}"} {
		if !strings.Contains(said, want) {
			gdbtest.Cannot(t, fmt.Sprintf("gdb has no %s in its own core:\n%s", want, said)) // gdb 16 on some processors
		}
	}
	for _, more := range []int{0, 8192} {
		t.Run(fmt.Sprintf("%d bytes more", more), func(t *testing.T) {
			tg := opened(t, withMoreState(t, core, more), Options{})
			threads, err := tg.Threads()
			if err != nil || len(threads) != 1 {
				t.Fatal(len(threads), err)
			}
			for i := range 16 {
				b := make([]byte, 32)
				if err := threads[0].(target.WideThread).ReadRegister(amd64.XMM0+trad.Reg(i), 0, b); err != nil {
					t.Fatal(err)
				}
				for k := range 4 {
					if got, want := binary.LittleEndian.Uint64(b[8*k:]), uint64(0x100*i+k+1); got != want {
						t.Errorf("word %d of ymm%d is %#x, want %#x", k, i, got, want)
					}
				}
			}
		})
	}
}

// withMoreState copies a core, with more bytes, of components that the thread does not use, at the
// end of its extended state.
func withMoreState(t *testing.T, core string, more int) string {
	t.Helper()
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for i, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		var notes []byte
		for old := data[p.Off : p.Off+p.Filesz]; len(old) >= elfnote.HeaderSize; {
			name, desc, typ := int(le.Uint32(old)), int(le.Uint32(old[4:])), le.Uint32(old[8:])
			at := elfnote.HeaderSize + (name+3)&^3
			body := bytes.Clone(old[at : at+desc])
			if typ == control.NTXState {
				body = append(body, make([]byte, more)...)
			}
			notes = elfnote.Append(notes, le, string(old[elfnote.HeaderSize:elfnote.HeaderSize+name-1]), typ, body)
			old = old[at+(desc+3)&^3:]
		}
		header := data[64+56*i:]
		le.PutUint64(header[8:], uint64(len(data)))
		le.PutUint64(header[32:], uint64(len(notes)))
		data = append(data, notes...)
	}
	path := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
