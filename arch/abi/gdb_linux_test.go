package abi_test

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

//go:embed testdata/call.py
var callPy string

// gdbCall is a call that gdb makes: the arguments and the result in hexadecimal digits.
type gdbCall struct {
	Name, Record, Result string
	Args                 []string
}

// TestGDB has gdb call functions with the same arguments, and compares what they got and returned.
func TestGDB(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.c")
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Count(string(sample), "\nCASE(")
	for _, m := range machines {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			b := m.builds(t)[0]
			p := b.compile(t, string(sample), ".c")
			var calls []gdbCall
			for i := range n {
				args, result := p.call(t, i)
				c := gdbCall{Name: fmt.Sprintf("case_%d", i), Result: hex.EncodeToString(result)}
				for _, arg := range args {
					c.Args = append(c.Args, hex.EncodeToString(arg.Bytes))
				}
				calls = append(calls, c)
			}
			if why := gdbtest.CannotWrite(t, "gdb"); why != "" && m.qemu == "" {
				gdbtest.NoOracle(t, len(calls), len(calls), why, "what the functions say that they were given, and return")
				return
			}
			gdb, stub := "gdb", ""
			if m.qemu != "" {
				gdb, stub = "gdb-multiarch", filepath.Join(t.TempDir(), "stub")
				guest := exec.CommandContext(t.Context(), b.emulator[0], append(m.cpu, "-g", stub, p.path)...)
				if err := guest.Start(); err != nil {
					t.Fatal(err)
				}
				defer guest.Wait()
				defer guest.Process.Kill()
			}
			script := gdbtest.StartScript(t, gdbtest.Tool(t, gdb), callPy, map[string]any{"stub": stub, "calls": calls, "names": map[string]string{}}, p.path)
			for _, want := range calls {
				var got gdbCall
				if record := script.Next(t); record == nil {
					t.Fatal("gdb made fewer calls")
				} else if err := json.Unmarshal(record, &got); err != nil {
					t.Fatal(err)
				}
				p.compare(t, want, got)
			}
		})
	}
}

// compare compares what a function got from gdb, and gdb from it.
func (p *program) compare(t *testing.T, want, got gdbCall) {
	f := p.function(t, want.Name)
	record, _ := hex.DecodeString(got.Record)
	for i, arg := range want.Args {
		wanted, _ := hex.DecodeString(arg)
		if len(record) < len(wanted) || !p.same(f.Params[i], record[:len(wanted)], wanted) {
			t.Errorf("%s: gdb passes %s, want %s", want.Name, got.Record, want.Args)
			return
		}
		record = record[len(wanted):]
	}
	returned, _ := hex.DecodeString(got.Result)
	wanted, _ := hex.DecodeString(want.Result)
	if len(returned) != len(wanted) || !p.same(f.Result, returned, wanted) {
		t.Errorf("%s: gdb says that it returns %s, want %s", want.Name, got.Result, want.Result)
	}
}
