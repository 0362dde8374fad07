package valuetest

import (
	"debug/dwarf"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A Tally counts what is compared.
type Tally struct {
	Frames, Values, Equal int
	Why                   map[string]int
	Constants             map[string]bool                     // names of the program's variables that are such constants; "" stands for any
	Known                 func(gdbtest.FullDifference) string // says why a difference is no defect, or returns ""
}

// Add counts a comparison. Variables that are computed from a register which no frame further in
// has saved are lost.
func (c *Tally) Add(t *testing.T, c2 *gdbtest.FullComparison, lost map[Lost]bool) {
	t.Helper()
	c.Frames, c.Values, c.Equal = c.Frames+c2.Frames, c.Values+c2.Values, c.Equal+c2.Equal
	if c.Why == nil {
		c.Why = map[string]int{}
	}
	for _, d := range c2.Different {
		inner := d
		if lost[Lost{d.TID, d.Level, InnermostCode}] {
			inner.Level = 0
		}
		why := Better(inner)
		if why == "" && !strings.Contains(d.Got, "<optimized out>") && lost[Lost{d.TID, d.Level, Jumped + d.Name}] {
			why = "gdb takes registers of the function that a tail call leads to for registers of the function that jumps"
		}
		if why == "" && lost[Lost{d.TID, d.Level, InlinedCall}] && (d.Want == d.Name+"@entry="+d.Got || d.Got == "(not there)" && strings.HasSuffix(d.Name, "@entry")) {
			// gdb finds the register by the location at the beginning of the inlined call
			// (loclist_read_variable_at_entry), and has its value at the beginning of the function
			// around that from the call site, whatever came between.
			why = "gdb takes what a register has where the function begins for what it has where an inlined call begins"
		}
		if why == "" && strings.Contains(d.Got, "<optimized out>") && lost[Lost{d.TID, d.Level, d.Name}] {
			why = "gdb takes a register that the callee need not preserve for the caller's"
		}
		if why == "" && strings.HasPrefix(d.Name, "vla") && strings.HasPrefix(d.Got, "0x") && lost[Lost{d.TID, d.Level, VLALength}] {
			why = "gdb takes a register that the callee need not preserve for the caller's, for the length of an array"
		}
		if why == "" && d.Want == "(not there)" && c.Constants != nil && (c.Constants[d.Name] || c.Constants[""]) {
			why = "gdb 13 leaves out what is a constant of several bytes"
		}
		if why == "" && c.Known != nil {
			why = c.Known(d)
		}
		if why != "" {
			c.Why[why]++
		} else {
			t.Error(d)
		}
	}
	if c2.Reordered > 0 {
		t.Errorf("frames have their locals in another order: %q", c2.ReorderedIn)
	}
}

// Lost is a variable that is not known because a register is: by the thread, the level and the
// name. Some names stand for what is lost of a whole frame.
type Lost struct {
	TID, Level int
	Name       string
}

// Names of a [Lost].
const (
	VLALength     = "__vla_expr"  // begins the names that clang gives to the lengths of arrays
	InlinedCall   = "(inlined)"   // stands for the function of an inlined call
	InnermostCode = "(innermost)" // stands for the innermost function, in which further calls may be inlined
	Jumped        = "(Jumped) "   // begins the names of arguments in a frame that has left by a tail call, and at the entry of where that leads
)

// Log says what was compared.
func (c *Tally) Log(t *testing.T) {
	t.Helper()
	t.Logf("%d frames, %d values, %d equal; %v", c.Frames, c.Values, c.Equal, c.Why)
}

func isBytes(v any) bool {
	_, ok := v.([]byte)
	return ok
}

// ByteConstants returns the names of a program's variables that the debug information has as the
// bytes of a constant; and the names of variables that are constants and belong to no block, for
// gdb. With split DWARF, any may be one.
func ByteConstants(t *testing.T, program string) map[string]bool {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section(".debug_info") == nil {
		return map[string]bool{"": true} // it is in another file
	}
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	abstract := map[dwarf.Offset]string{}
	var origins []dwarf.Offset
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		const gnuDwoName = 0x2130
		if e.Val(dwarf.AttrDwoName) != nil || e.Val(gnuDwoName) != nil {
			names[""] = true
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		abstract[e.Offset] = name
		external, _ := e.Val(dwarf.AttrExternal).(bool)
		if constant := e.AttrField(dwarf.AttrConstValue); constant != nil && (isBytes(constant.Val) || external) {
			if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				origins = append(origins, origin)
			} else {
				names[name] = true
			}
		}
	}
	for _, off := range origins {
		names[abstract[off]] = true
	}
	return names
}

// Parse reads the text of gdb's bt full, or of the command's --locals.
func Parse(t *testing.T, text string) []gdbtest.FullThread {
	t.Helper()
	threads, err := gdbtest.ParseFull(text)
	if err != nil {
		t.Fatal(err)
	}
	return threads
}

// Compile compiles a generated program.
func Compile(t *testing.T, p Program, b Build) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.Name)
	if err := os.WriteFile(path, []byte(p.Source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := b.Command(p)
	if slices.Contains(cmd, "-gsplit-dwarf") { // the other file must stay where it is
		program := strings.TrimSuffix(path, filepath.Ext(path))
		c := exec.Command(gdbtest.Tool(t, cmd[0]), append(cmd[1:], path, "-o", program)...)
		c.Dir = filepath.Dir(path)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return program
	}
	return gdbtest.Compile(t, path, append([]string{gdbtest.Tool(t, cmd[0])}, cmd[1:]...)...)
}
