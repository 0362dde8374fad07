package sniffer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// deepStack starts a process whose stack has the given depth, and attaches to it.
func deepStack(b *testing.B, depth int) (target.Target, target.Thread, *arch.Registers) {
	p := gdbtest.Start(b, gdbtest.Build(b, "recurse.c", gdbtest.Plain...), strconv.Itoa(depth))
	t, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { t.Close() })
	threads, err := t.Threads()
	if err != nil {
		b.Fatal(err)
	}
	var regs arch.Registers
	if err := threads[0].Registers(&regs); err != nil {
		b.Fatal(err)
	}
	return t, threads[0], &regs
}

// storeOf makes a store with Breakpad's symbol files of a target's modules.
func storeOf(b *testing.B, t target.Target) string {
	store := b.TempDir()
	for _, m := range t.Modules().All() {
		if m.Path == "[vdso]" {
			continue
		}
		d, err := fromelf.Open(m.Path, fromelf.Options{})
		if err != nil {
			b.Fatal(err)
		}
		inside, err := d.Module.StorePath()
		path := filepath.Join(store, inside)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o777)); err != nil {
			b.Fatal(err)
		}
		file, err := os.Create(path)
		if err == nil {
			_, err = d.WriteTo(file)
		}
		if err = errors.Join(err, file.Close(), d.Close()); err != nil {
			b.Fatal(err)
		}
	}
	return store
}

// tableOf returns a table of the sniffers with these names. store is the folder of the symbol
// files.
func tableOf(b *testing.B, store string, names ...string) *frame.Table {
	list, err := sniffer.Options{Symbols: store}.ByName(names...)
	if err != nil {
		b.Fatal(err)
	}
	return frame.NewTable(amd64.Arch, list...)
}

var benchTables = []struct {
	name  string
	names []string
}{{"sframe", sniffer.Names()}, {"dwarf", []string{"sigtramp", "dwarf"}}, {"breakpad", []string{"sigtramp", "breakpad"}}}

// BenchmarkWalker walks one stack over and over, with all of its rows cached and with none cached.
func BenchmarkWalker(b *testing.B) {
	for _, depth := range []int{30, 1000} {
		t, _, regs := deepStack(b, depth)
		store := storeOf(b, t)
		pcs := make([]uint64, depth+100)
		for _, rows := range benchTables {
			for _, cold := range []bool{false, true} {
				b.Run(fmt.Sprintf("depth=%d/%s/cold=%v", depth, rows.name, cold), func(b *testing.B) {
					w := frame.NewWalker(t.Modules(), tableOf(b, store, rows.names...))
					frames, stop := w.Walk(regs, t.Memory(), pcs)
					if stop != frame.Outermost {
						b.Fatalf("%d frames, stop %v", frames, stop)
					}
					b.ReportAllocs()
					for b.Loop() {
						if cold {
							w.Reset()
						}
						w.Walk(regs, t.Memory(), pcs)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*frames), "ns/frame")
				})
			}
		}
	}
}

// BenchmarkStack walks the same stack with a Stack, which has all registers of every frame.
func BenchmarkStack(b *testing.B) {
	for _, depth := range []int{30, 1000} {
		t, th, _ := deepStack(b, depth)
		store := storeOf(b, t)
		for _, rows := range benchTables {
			for _, all := range []bool{false, true} {
				b.Run(fmt.Sprintf("depth=%d/%s/registers=%v", depth, rows.name, all), func(b *testing.B) {
					s, err := frame.New(t, th, tableOf(b, store, rows.names...))
					if err != nil {
						b.Fatal(err)
					}
					frames := 0
					var regs arch.Registers
					b.ReportAllocs()
					for b.Loop() {
						if err := s.Reset(t, th); err != nil {
							b.Fatal(err)
						}
						for f := range s.All() {
							frames++
							if all {
								f.Registers(&regs)
							}
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
				})
			}
		}
	}
}
