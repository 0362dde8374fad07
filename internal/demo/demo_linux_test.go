package demo

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func TestStart(t *testing.T) {
	p, err := Start()
	if errors.Is(err, ErrEmulated) {
		gdbtest.Cannot(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// From the innermost function of demo.c outward, in each thread.
	want := map[string][]string{
		"demo":    {"next_job", "serve", "main"},
		"walker":  {"visit", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walk_tree", "walker"},
		"ticker":  {"on_tick", "sigtramp", "compute", "ticker"},
		"framed":  {"without_frame_pointer", "with_frame_pointer", "framed"},
		"queue-0": {"take", "queue"},
		"queue-1": {"take", "queue"},
	}
	threads := gdbtest.Backtrace(t, p.PID)
	if len(threads) != len(want) {
		t.Errorf("%d threads, want %d", len(threads), len(want))
	}
	for _, thread := range threads {
		var names []string
		for _, f := range thread.Frames {
			switch {
			case f.Type == "sigtramp":
				names = append(names, "sigtramp")
			case filepath.Base(f.File) == "demo.c" && f.Function != "nap":
				names = append(names, f.Function)
			}
		}
		if !slices.Equal(names, want[thread.Name]) {
			t.Errorf("thread %s: %v, want %v", thread.Name, names, want[thread.Name])
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(p.PID, 0); err != syscall.ESRCH {
		t.Errorf("after Stop, signalling process %d gives %v, want %v", p.PID, err, syscall.ESRCH)
	}
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("after Stop, %s: %v, want it removed", p.dir, err)
	}
}

// A folder that cannot be written gives an error and leaves nothing running.
func TestStartFails(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if p, err := Start(); err == nil {
		p.Stop()
		t.Error("no error although there is no temporary folder")
	}
}

// The binary is what README.md says: SFrame V3, and no symbol of a glibc after 2.34.
func TestProgram(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	section := f.Section(".sframe")
	if section == nil {
		t.Fatal("no .sframe section")
	}
	data, err := section.Data()
	if err != nil || len(data) < 3 || f.ByteOrder.Uint16(data) != 0xdee2 || data[2] != 3 {
		t.Errorf(".sframe begins with % x (%v), want magic 0xdee2 and version 3", data[:min(len(data), 3)], err)
	}
	imported, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range imported {
		minor := 0
		if _, err := fmt.Sscanf(s.Version, "GLIBC_2.%d", &minor); s.Version != "" && err != nil || minor > 34 {
			t.Errorf("%s needs %s", s.Name, s.Version)
		}
	}
	if len(program) > 64<<10 {
		t.Errorf("the program is %d bytes, want a small one", len(program))
	}
}
