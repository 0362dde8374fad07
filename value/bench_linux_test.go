package value_test

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// BenchmarkFrame reads all arguments and local variables of a stack, as texts; debug information
// has been read before. The program "wait" is the one that internal/bench measures: its functions
// have strings, arrays, one whose bound is in the frame, and arguments that only their callers
// know.
func BenchmarkFrame(b *testing.B) {
	b.Run("recurse", func(b *testing.B) {
		benchmarkFrame(b, gdbtest.Build(b, "recurse.c", "-g", "-O2"), "200")
	})
	b.Run("wait", func(b *testing.B) {
		source := func(name string) string { return gdbtest.Testdata(b, "..", "internal", "bench", "programs", name) }
		program := gdbtest.Compile(b, source("wait.c"), gdbtest.Tool(b, "cc"), "-pthread", "-g", "-O2", "-fomit-frame-pointer", source("deep.c"), source("ticker.c"))
		benchmarkFrame(b, program, "1", "200")
	})
}

func benchmarkFrame(b *testing.B, program string, args ...string) {
	p := gdbtest.Start(b, program, args...)
	t, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	threads, err := t.Threads()
	if err != nil {
		b.Fatal(err)
	}
	s, err := frame.New(t, threads[0], sniffer.Table(t.Arch()))
	if err != nil {
		b.Fatal(err)
	}
	var frames []logical.Frame
	for f, err := range logical.New(t, symbols).All(s) {
		if err != nil {
			break
		}
		frames = append(frames, f)
	}
	reader, memory := value.NewReader(t, symbols, printers.All()), target.MemoryOf(t, threads[0])
	printer := &value.Printer{}
	read := func() {
		for i := range frames {
			f, err := reader.Frame(&frames[i], memory)
			if err != nil {
				b.Fatal(err)
			}
			printer.Arguments(&f)
			for j := range f.Locals {
				printer.Local(&f.Locals[j])
			}
			f.Release()
		}
	}
	read()
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
}
