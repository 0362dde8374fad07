package stacks_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestBetterAsLLDB asks lldb for values that gdb has in another way, and that count as better: lldb
// has the same scalar, or knows the value no more than we do.
func TestBetterAsLLDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	lldb := gdbtest.Tool(t, "lldb")
	t.Setenv("LC_ALL", "C.UTF-8")
	const daily = 9 // the others take long
	for _, i := range []int{daily, 1, 3, 10, 13, 15, 18} {
		b := valuetest.Builds[i]
		for _, p := range []valuetest.Program{valuetest.C(uint64(i)), valuetest.CXX(uint64(i))} {
			t.Run(fmt.Sprint(p.Name, " ", b.Compiler, b.Flags), func(t *testing.T) {
				if i != daily {
					gdbtest.NeedSoak(t)
				}
				program := valuetest.Compile(t, p, b)
				process := gdbtest.Start(t, program)
				core := filepath.Join(t.TempDir(), "core")
				want := valuetest.Parse(t, gdbtest.Full(t, process.PID, core))
				out, lost := locals(t, []string{"--raw"}, "core", core)
				counts := map[string]int{}
				for _, d := range gdbtest.CompareFull(want, valuetest.Parse(t, out)).Different {
					unsaved := strings.Contains(d.Got, "<optimized out>") && lost[valuetest.Lost{TID: d.TID, Level: d.Level, Name: d.Name}]
					if d.Level == 0 || !unsaved && valuetest.Better(d) == "" {
						continue
					}
					got, ok := ourScalar(d)
					if !ok {
						continue
					}
					text := lldbVariable(t, lldb, program, core, d)
					said, ok := lldbScalar(text, d.Name)
					switch {
					case !ok:
						counts["not comparable"]++
					case said == got:
						counts["the same"]++
					case said == unknown:
						counts["lldb does not know it"]++
					case got == unknown && said != gdbScalar(d.Want):
						counts["lldb has another value than gdb"]++ // it has that at the entry for a register that is not saved
					default:
						t.Errorf("%v\n\tlldb has %s", d, text)
					}
				}
				t.Log(counts)
			})
		}
	}
}

// unknown stands for a value that a debugger does not know.
const unknown = "unknown"

// ourScalar returns a number, or unknown; also of an argument that is as it was at the entry.
func ourScalar(d gdbtest.FullDifference) (text string, ok bool) {
	if strings.HasSuffix(d.Name, "@entry") {
		return "", false // lldb has the variable alone
	}
	text = strings.TrimPrefix(d.Got, d.Name+"@entry=")
	if text == "<optimized out>" || text == "<not saved>" {
		return unknown, true
	}
	return scalarText(text)
}

// gdbScalar returns the number that gdb has of a variable; "" if it is none.
func gdbScalar(text string) string {
	n, _ := scalarText(text)
	return n
}

// lldbVariable returns what lldb has of a variable; "" if its frame of the number is another one.
func lldbVariable(t *testing.T, lldb, program, core string, d gdbtest.FullDifference) string {
	t.Helper()
	cmd := exec.Command(lldb, "-X", "-b", "-c", core, program, "-o", "frame select "+strconv.Itoa(d.Level), "-o", "frame variable "+d.Name)
	out, err := cmd.Output()
	if err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("lldb: %v", err))
	}
	function, _, _ := strings.Cut(d.Function, "<")
	_, frame, _ := strings.Cut(string(out), "frame #"+strconv.Itoa(d.Level)+":")
	line, rest, _ := strings.Cut(frame, "\n")
	if !strings.Contains(line, function) {
		return ""
	}
	return rest
}

var (
	lldbLine = regexp.MustCompile(`(?m)^\(([^()]|\([^()]*\))*\) (\w+) = (.*)$`)
	aScalar  = regexp.MustCompile(`^(-?\d+|0x[0-9a-f]+|true|false)( ['<].*)?$`)
)

// lldbScalar returns the number of a line of lldb, or unknown. Blocks may hide others' variables:
// then nothing can be compared.
func lldbScalar(text, name string) (scalar string, ok bool) {
	lines := lldbLine.FindAllStringSubmatch(text, -1)
	if len(lines) != 1 || lines[0][2] != name {
		return "", false
	}
	switch said := lines[0][3]; {
	case strings.HasPrefix(said, "<") || said == "":
		return unknown, true
	default:
		return scalarText(said)
	}
}

// scalarText returns an integer, an address or a truth value as decimal digits, without what is
// behind.
func scalarText(text string) (string, bool) {
	m := aScalar.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	switch m[1] {
	case "true":
		return "1", true
	case "false":
		return "0", true
	}
	if n, err := strconv.ParseUint(m[1], 0, 64); err == nil && strings.HasPrefix(m[1], "0x") {
		return strconv.FormatUint(n, 10), true
	}
	return m[1], true
}
