package remote

import (
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// qemu starts a guest that waits for a debugger, and connects.
func qemu(t *testing.T, emulator, guest string, o Options) *Target {
	t.Helper()
	sock := filepath.Join(t.TempDir(), "stub")
	cmd := exec.Command(gdbtest.Tool(t, emulator), "-g", sock, gdbtest.Testdata(t, "guests", guest))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var tg *Target
	var err error
	gdbtest.Await(t, emulator+" listens", func() bool { // the socket is there before that
		tg, err = Dial(context.Background(), "unix:"+sock, o)
		return !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// All parts of a stub's description mean what gdb takes them for.
func TestDescribedLayout(t *testing.T) {
	for _, tt := range []struct{ arch, emulator, guest string }{
		{"arm64", "qemu-aarch64", "steps-arm64-v3"},
		{"s390x", "qemu-s390x", "steps-s390x-v3"},
	} {
		t.Run(tt.arch, func(t *testing.T) {
			tg := qemu(t, tt.emulator, tt.guest, Options{})
			if tg.Arch().Name != tt.arch {
				t.Fatalf("architecture %s", tg.Arch().Name)
			}
			dir := t.TempDir()
			d, err := readDescription(func(annex string) ([]byte, error) {
				text, err := tg.s.transfer("features", annex, maxDescription)
				if err != nil {
					return nil, err
				}
				return text, os.WriteFile(filepath.Join(dir, annex), text, 0o600)
			})
			if err != nil {
				t.Fatal(err)
			}
			a := arch.ByName(tt.arch)
			l, err := newLayout(a, d.regs)
			if err != nil {
				t.Fatal(err)
			}
			compareLayout(t, a, l, gdbLayout(t, "set architecture "+d.arch, "set tdesc filename "+filepath.Join(dir, "target.xml")))
			// All registers can be read, including registers behind the end of g.
			var r arch.Registers
			threads, _ := tg.Threads()
			if err := threads[0].Registers(&r); err != nil || r.Known.Len() != len(l.regs) {
				t.Errorf("%d registers of %d, %v", r.Known.Len(), len(l.regs), err)
			}
		})
	}
}

// A guest stands still at its first instruction. After one step it is at the second, and a
// breakpoint stops it at main.
func TestStep(t *testing.T) {
	for _, tt := range []struct {
		emulator, guest string
		insn            uint64 // length of the first instruction, by objdump
	}{{"qemu-aarch64", "steps-arm64-v3", 4}} {
		tg := qemu(t, tt.emulator, tt.guest, Options{})
		threads, _ := tg.Threads()
		th := threads[0].(*Thread)
		var before, after arch.Registers
		if err := th.Registers(&before); err != nil {
			t.Fatal(err)
		}
		m := tg.Modules().Find(before.Value[tg.Arch().PC])
		im, bias, err := m.Image()
		if err != nil || im.Entry+bias != before.Value[tg.Arch().PC] {
			t.Errorf("PC %#x is not the entry: %v", before.Value[tg.Arch().PC], err)
		}
		if err := tg.Step(context.Background(), th); err != nil {
			t.Fatal(err)
		}
		if err := th.Registers(&after); err != nil {
			t.Fatal(err)
		}
		if got := after.Value[tg.Arch().PC] - before.Value[tg.Arch().PC]; got != tt.insn {
			t.Errorf("stepped by %d bytes, want %d", got, tt.insn)
		}
		at := addressOf(t, gdbtest.Testdata(t, "guests", tt.guest), "main")
		if err := tg.RunTo(context.Background(), at, 4); err != nil {
			t.Fatal(err)
		}
		if err := th.Registers(&after); err != nil || after.Value[tg.Arch().PC] != at {
			t.Errorf("PC %#x (%v), want %#x, main's", after.Value[tg.Arch().PC], err, at)
		}
		if tg.StopSignal != int(syscall.SIGTRAP) {
			t.Errorf("stopped by %q", tg.StopName)
		}
	}
}

// addressOf returns the address of a function in a program that is not position-independent.
func addressOf(t *testing.T, path, function string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == function })
	if i < 0 {
		t.Fatalf("%s has no %s: %v", path, function, err)
	}
	return symbols[i].Value
}
