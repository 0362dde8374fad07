package v8_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/v8"
)

// TestBuiltins: where a file is stripped, V8's builtin functions have the names that their symbols
// had. Of a file that has lost them before, it is known which one of them is the interpreter.
func TestBuiltins(t *testing.T) {
	script, err := filepath.Abs("testdata/stops.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		t.Run(strings.TrimPrefix(node, "/"), func(t *testing.T) {
			symbols := builtinsOf(t, node)
			file := filepath.Join(t.TempDir(), "stack")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p := gdbtest.StartRunning(t, stripped(t, node), script, file, "15", "30")
			names := map[string]bool{}
			compared := 0
			gdbtest.Await(t, "stacks have builtin functions of many names", func() bool {
				p.Stop(t)
				d := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID]
				for i, f := range d.Stack.Frames {
					m := f.Module()
					if m == nil || m.Registered() {
						continue
					}
					_, bias, err := m.PeekImage()
					if err != nil {
						t.Fatal(err)
					}
					want := nameAt(symbols, f.AddressInBlock()-bias)
					got := ""
					if d.Said != nil && d.Said.At[i] != nil {
						got = d.Said.At[i].Name
					}
					if len(symbols) == 0 && i > 0 && d.Said != nil && d.Said.At[i] != nil && slices.ContainsFunc(d.Said.At[i].Frames, isInterpreted) {
						want = "Builtins_InterpreterEntryTrampoline"
						if other := "Builtins_InterpreterEnterAtBytecode"; got == other {
							want = other // from V8 13 on, one that has come from optimised code returns there
						}
					}
					if got != want && (want != "" || len(symbols) != 0) {
						t.Errorf("#%d %#x is %q, want %q", i, f.PC(), got, want)
					}
					if got != "" {
						names[got] = true
						compared++
					}
				}
				if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				return t.Failed() || compared >= 300 && len(names) >= 15
			})
			t.Logf("%d frames of %d functions", compared, len(names))
		})
	}
}

func isInterpreted(f language.Placed) bool { return f.Kind == "interpreted" }

// builtinsOf returns the symbols of builtin functions, ascending.
func builtinsOf(t *testing.T, node string) (list []elf.Symbol) {
	t.Helper()
	f, err := elf.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "Builtins_") {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b elf.Symbol) int { return int(int64(a.Value - b.Value)) })
	return list
}

// nameAt returns the name of the symbol that an address is in; "" if it is in none.
func nameAt(symbols []elf.Symbol, addr uint64) string {
	for i := range symbols {
		if s := &symbols[i]; addr-s.Value < s.Size {
			return s.Name
		}
	}
	return ""
}
