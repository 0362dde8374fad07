package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// The registers of AVX-512 in the kernel's cores have the values that the program had, whether the
// core tells their places (Linux 6.12) or not. Where it does, the places are the ones that the
// processor tells.
func TestAVX512(t *testing.T) {
	gdbtest.NeedFlag(t, "avx512bw")
	for _, test := range []struct {
		name  string
		build func(t testing.TB, src string, flags ...string) string
	}{{"amd64", gdbtest.Build}, {"386", gdbtest.Build386}} {
		t.Run(test.name, func(t *testing.T) {
			told := kernelCoreOf(t, test.build(t, "avx512.c", "-O1"))
			layout, silent := withoutLayout(t, told)
			if layout == nil {
				t.Log("the kernel's core does not tell where the registers are")
			}
			for ; len(layout) >= 16; layout = layout[16:] {
				if !bytes.Contains(control.HostLayout(), layout[:16]) {
					t.Errorf("the processor does not tell of the component %x, as the kernel does", layout[:16])
				}
			}
			for _, core := range []string{told, silent} {
				sameAsAVX512(t, opened(t, core, Options{}))
			}
		})
	}
}

// sameAsAVX512 compares the registers of AVX-512 with the values that avx512.c has put there.
func sameAsAVX512(t *testing.T, tg *Target) {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil || len(threads) != 1 {
		t.Fatal(len(threads), err)
	}
	n := 0
	for i := range tg.Arch().WideRegs() {
		w := &tg.Arch().WideRegs()[i]
		if w.Name[0] == 's' {
			continue
		}
		n++
		if b, err := target.ReadWide(threads[0].(target.WideThread), w); !bytes.Equal(b, gdbtest.AVX512(w.Name)) {
			t.Errorf("%s is %x, %v; want %x", w.Name, b, err, gdbtest.AVX512(w.Name))
		}
	}
	if n < 16 {
		t.Errorf("%d registers", n)
	}
}

// withoutLayout copies a core without the note that tells the layout of NT_X86_XSTATE, which it
// returns.
func withoutLayout(t *testing.T, core string) (layout []byte, without string) {
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
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		for notes := data[p.Off : p.Off+p.Filesz]; len(notes) >= elfnote.HeaderSize; {
			desc := int(le.Uint32(notes[4:]))
			at := elfnote.HeaderSize + int(le.Uint32(notes)+3)&^3
			if le.Uint32(notes[8:]) == control.NTXLayout {
				layout = notes[at : at+desc]
				le.PutUint32(notes[8:], 0x7fff)
			}
			notes = notes[at+(desc+3)&^3:]
		}
	}
	without = filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(without, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return layout, without
}
