package sniffer_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/framebase"
	"github.com/sfwalk/sfwalk/symbol"
)

var (
	fbregText = regexp.MustCompile(`(?:DW_OP_fbreg |frame base reg \S+ offset -?\d+\+)(-?\d+)`)
	localText = regexp.MustCompile(`\$\d+ = .*(0x[0-9a-f]+)`)
)

// gdbBase returns the frame base that gdb uses in a function: the address of its variable own, less
// the offset from the base at which DWARF has it. ok is false if own is located in another way.
func gdbBase(t *testing.T, pid int, function string) (base uint64, ok bool) {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(pid),
		"-ex", "frame function "+function, "-ex", "info address own", "-ex", "print (void*)&own").CombinedOutput()
	if err != nil && !strings.Contains(string(out), "No symbol \"own\"") { // where it was optimized out
		t.Fatalf("gdb: %v: %s", err, out)
	}
	at, off := localText.FindStringSubmatch(string(out)), fbregText.FindStringSubmatch(string(out))
	if at == nil || off == nil {
		return 0, false
	}
	addr, _ := strconv.ParseUint(at[1], 0, 64)
	n, _ := strconv.ParseInt(off[1], 10, 64)
	return addr - uint64(n), true
}

// The base of a frame is where gdb has it, whatever the compiler says it by: the CFA, a register, a
// list of locations.
func TestFrameBase(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for i, flags := range []string{
		"-g -O2", "-g -O0", "-g -O1 -fomit-frame-pointer", "-gdwarf-4 -O2", "-gdwarf-5 -gsplit-dwarf -O1", "-gdwarf-4 -gsplit-dwarf -O1",
		"-gdwarf-2 -gstrict-dwarf -O1", "-gdwarf-2 -gstrict-dwarf -O0",
		"-g -O0 -static", "-g -O2 -static",
	} {
		t.Run(flags, func(t *testing.T) {
			gdbtest.Share(t, i)
			program := filepath.Join(t.TempDir(), "framebase") // the rest of split debug information stays beside it
			command := append(strings.Fields(flags), "-o", program, gdbtest.Testdata(t, "progs", "framebase.c"))
			if out, err := exec.Command(gdbtest.Tool(t, "cc"), command...).CombinedOutput(); err != nil {
				t.Fatalf("cc: %v: %s", err, out)
			}
			p := gdbtest.Start(t, program)
			want := make(map[string]uint64)
			for _, f := range []string{"inner", "flexible", "outer", "main"} {
				if base, ok := gdbBase(t, p.PID, f); ok {
					want[f] = base
				}
			}
			if len(want) < 2 {
				t.Fatalf("gdb has %d frames with a base", len(want))
			}
			tg, threads := attach(t, p.PID)
			defer tg.Close()
			symbols := symbol.New(symbol.Options{})
			defer symbols.Close()
			table := sniffer.Table(tg.Arch())
			table.AppendBase(&framebase.Sniffer{Symbols: symbols})
			stack, err := frame.New(tg, threads[0], table)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]uint64)
			for f := range stack.All() {
				chain := symbols.Locate(tg.Modules(), f.AddressInBlock())
				name := chain[len(chain)-1].Function
				if _, ok := want[name]; !ok {
					continue
				}
				b := table.Base(f)
				for what, ask := range map[string]func(*frame.Frame) (uint64, error){"base": b.ThisBase, "locals": b.ThisLocals, "args": b.ThisArgs} {
					at, err := ask(f)
					if err != nil || b.Name() != "dwarf" || at != want[name] {
						t.Errorf("%s of %s by %s: %#x, %v; gdb has %#x", what, name, b.Name(), at, err, want[name])
					}
					got[name] = at
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %x, gdb has %x", got, want)
			}
			for _, err := range symbols.Warnings(tg.Modules().All()[0]) {
				t.Error(err)
			}
		})
	}
}
