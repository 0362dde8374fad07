package external_test

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// BenchmarkStart: a plug-in's start, until it has described itself, and its end.
func BenchmarkStart(b *testing.B) {
	path := plugintestPath(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := external.Start(context.Background(), external.Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

// BenchmarkStack walks the recorded stack. It has 14 frames; the plug-in claims 6, of three
// functions. The host asks the plug-in for each frame ("once"), or for each function ("anew"). Or
// the answers are known to the host ("recall"), or to the table ("table"). Or there is no plug-in.
func BenchmarkStack(b *testing.B) {
	s := newSubject(b, "amd64")
	threads, err := s.Threads()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, mode string
		between    func(*frame.Table, *external.Sniffer)
	}{
		{"once", "jit-once", func(*frame.Table, *external.Sniffer) {}},
		{"anew", "jit-plain", func(t *frame.Table, x *external.Sniffer) { t.Reset(); x.Forget() }},
		{"ahead", "jit", func(t *frame.Table, x *external.Sniffer) { t.Reset(); x.Forget() }},
		{"recall", "jit", func(t *frame.Table, x *external.Sniffer) { t.Reset() }},
		{"table", "jit", func(*frame.Table, *external.Sniffer) {}},
		{"without", "", func(*frame.Table, *external.Sniffer) {}},
	} {
		b.Run(c.name, func(b *testing.B) {
			table, x := s.table(), (*external.Sniffer)(nil)
			if c.mode != "" {
				p, err := start(b, c.mode, external.Options{})
				if err != nil {
					b.Fatal(err)
				}
				x = p.Sniffer(external.Target{PID: s.PID})
				table = frame.NewTable(s.Arch(), table.Sniffers()[1:]...)
				external.Insert(table, x)
			}
			stack, err := frame.New(s, threads[0], table)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.between(table, x)
				if err := stack.Reset(s, threads[0]); err != nil {
					b.Fatal(err)
				}
				n := 0
				for f, err := stack.Frame(0); f != nil; f, err = f.Prev() {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != len(s.steps) {
					b.Fatalf("%d frames, want %d", n, len(s.steps))
				}
			}
		})
	}
}
