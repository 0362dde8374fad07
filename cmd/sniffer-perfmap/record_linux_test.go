package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/record"
	sniffers "github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/symbol"
)

// Profiles have the plug-in's names, also of the functions that V8's interpreter runs, whose frames
// all have the same code.
func TestRecord(t *testing.T) {
	gdbtest.CanRecord(t)
	script, err := filepath.Abs("testdata/stack.js")
	if err != nil {
		t.Fatal(err)
	}
	p := startNode(t, "--perf-basic-prof", script, "compute")
	want := call(t, p)
	by := start(t, nil)
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: amd64.Arch, Table: func(pid int, a *arch.Arch) *frame.Table {
		table := sniffers.Table(a)
		external.Insert(table, by.Sniffer(external.Target{PID: pid, Live: true, Root: fmt.Sprintf("/proc/%d/root", pid)}))
		return table
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	gdbtest.Await(t, "60 samples", func() bool { return r.Stats().Samples >= 60 })
	cancel()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := r.Profile().Picture(names)
	right, all := int64(0), int64(0)
	for _, s := range stacks.Samples {
		if f := &stacks.Places[s.Frames[len(s.Frames)-1]]; f.Function != "_start" {
			continue // OpenSSL's code does not tell everywhere who has called it
		}
		all += s.Values[0]
		var got []string
		for _, at := range s.Frames {
			f := &stacks.Places[at]
			m := tier.FindStringSubmatch(f.Function)
			if m == nil {
				continue
			}
			got = append(got, strings.TrimPrefix(f.Function, m[0]))
			if line := definedIn(t, got[len(got)-1]); line > 0 && (f.File != script || f.Line != line) {
				t.Errorf("%s is in %s:%d, want line %d of %s", f.Function, f.File, f.Line, line, script)
			}
		}
		if i := slices.Index(got, "inner"); i >= 0 && slices.Equal(got[i:][:min(4, len(got)-i)], want[:4]) {
			right += s.Values[0]
		}
	}
	// The call is under way when the recording begins.
	if all < 15 || right < all*9/10 {
		t.Errorf("%d of %d samples are in %q", right, all, want[:4])
	}
}
