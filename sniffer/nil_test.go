package sniffer_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/snapshot"
	"github.com/sfwalk/sfwalk/trad"
)

// bare is a target that has nothing but an architecture.
type bare struct{ arch *arch.Arch }

func (b bare) Arch() *arch.Arch                { return b.arch }
func (bare) Memory() target.Memory             { return nil }
func (bare) Modules() *target.Modules          { return nil }
func (bare) Threads() ([]target.Thread, error) { return nil, nil }
func (bare) Close() error                      { return nil }

type bareThread struct{}

func (bareThread) ID() int      { return 1 }
func (bareThread) Name() string { return "" }
func (bareThread) Registers(r *arch.Registers) error {
	r.Set(amd64.Arch.PC, 0x400000)
	r.Set(amd64.Arch.SP, 0x7fff0000)
	r.Set(amd64.Arch.FP, 0x7fff0010)
	return nil
}

// Everything that docs/embedding.md allows to be nil may be nil.
func TestNil(t *testing.T) {
	table := sniffer.Table(amd64.Arch)
	for _, tt := range []struct {
		target target.Target
		thread target.Thread
		table  *frame.Table
		want   string
	}{
		{nil, bareThread{}, table, "target is nil"},
		{bare{amd64.Arch}, nil, table, "thread is nil"},
		{bare{amd64.Arch}, bareThread{}, nil, "no table of sniffers"},
		{bare{amd64.Arch}, bareThread{}, sniffer.Table(nil), "no table of sniffers"},
		{bare{nil}, bareThread{}, table, "architecture is nil"},
	} {
		if _, err := frame.New(tt.target, tt.thread, tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}

	// Both walkers find one frame, which no sniffer claims.
	stack, err := frame.New(bare{amd64.Arch}, bareThread{}, table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Prev()
	var stop *frame.StopError
	if !errors.As(err, &stop) {
		t.Fatalf("%v", err)
	}
	var regs arch.Registers
	bareThread{}.Registers(&regs)
	w := frame.NewWalker(nil, table)
	for _, cfas := range [][]uint64{nil, make([]uint64, 4)} {
		if n, reason := w.WalkCFA(&regs, nil, make([]uint64, 4), cfas); n != 1 || reason != stop.Reason {
			t.Errorf("%d frames, %v; the stack ends with %v", n, reason, stop.Reason)
		}
	}
	if n, reason := w.Walk(nil, nil, make([]uint64, 4)); n != 0 || reason != frame.Unavailable {
		t.Errorf("no registers: %d frames, %v", n, reason)
	}
	c := frame.NewContext(amd64.Arch, nil)
	if reason := w.Step(&c, nil); reason != frame.Unavailable {
		t.Error(reason)
	}
	w.SetModules(nil)

	var none *target.Modules
	if none.All() != nil || none.Find(1) != nil || none.FindFile(1) != nil || !none.IsCode(1) || none.CodeEnd(1) != ^uint64(0) || none.Registered().Objects != nil {
		t.Error("a list of modules that is nil has some")
	}
	mappings := []target.Mapping{{Lo: 0x1000, Hi: 0x2000, Exec: true}}
	for _, open := range []func() (*elf.Image, error){nil, func() (*elf.Image, error) { return nil, nil }} {
		if _, _, err := target.NewModule("/x", mappings, open).Image(); err == nil || err.Error() != "/x: no file" {
			t.Error(err)
		}
	}
	if m := target.NewModule("/x", nil, nil); m.Lo() != 0 || m.Hi() != 0 {
		t.Errorf("%#x, %#x", m.Lo(), m.Hi())
	}
	if _, err := elf.OpenMapped(nil, 0x1000, 0x1000); !errors.Is(err, target.ErrUnmapped) {
		t.Error(err)
	}

	jit.Register(nil, nil, amd64.Arch, nil)
	modules := target.NewModules([]*target.Module{target.NewModule("/x", mappings, nil)}, nil)
	jit.Register(modules, nil, amd64.Arch, nil)
	modules.Find(1)

	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	if at := symbols.Locate(nil, 1); len(at) != 1 || at[0] != (symbol.Location{}) || symbols.Warnings(nil) != nil || symbols.DebugFile(nil) != nil || symbols.InlinedInto(nil, 1, 2) {
		t.Errorf("%+v", at)
	}

	files := sysroot.New(sysroot.Options{Arch: amd64.Arch}, nil)
	defer files.Close()
	for _, m := range []*target.Module{files.Module("[vdso]", mappings), files.Module("/nonexistent", mappings), files.Module("/x", nil)} {
		if _, _, err := m.Image(); err == nil {
			t.Errorf("%s has an image", m.Path)
		}
	}
	s := &snapshot.Snapshot{Arch: amd64.Arch}
	s.Gather(nil, nil)
	s.AddRegistered(nil)
	if err := s.Write(io.Discard); err != nil {
		t.Log(err) // it has no threads
	}
	if _, err := goroutine.Find(nil); !errors.Is(err, goroutine.ErrNotGo) {
		t.Error(err)
	}
	if _, err := goroutine.Find(bare{amd64.Arch}); !errors.Is(err, goroutine.ErrNotGo) {
		t.Error(err)
	}
	row := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: 7, Off: 8}}
	if got := row.Format(nil); got != "CFA=r7+8" {
		t.Error(got)
	}
}
