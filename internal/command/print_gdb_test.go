//go:build linux

package command

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// printedAsGDB compares the values of expressions in frames of functions with gdb's. It returns the functions' levels, and how many values are equal.
func printedAsGDB(t *testing.T, p *gdbtest.Process, functions map[string][]string) (levels map[string]int, same int) {
	t.Helper()
	levels = map[string]int{}
	without := 0
	for _, f := range printIn(t, p.PID, nil, []string{"1"}) {
		levels[f.Function] = f.Level
	}
	for function, expressions := range functions {
		level, ok := levels[function]
		if !ok {
			t.Errorf("no frame of %s: %v", function, levels)
			continue
		}
		ours := printIn(t, p.PID, []int{level}, expressions, "--raw")
		script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), printPy, map[string]any{"expressions": expressions, "frames": []int{level}, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
		for k, x := range expressions {
			var want struct{ Value, Error string }
			if record := script.Next(t); record == nil {
				t.Fatal("gdb evaluated fewer expressions")
			} else if err := json.Unmarshal(record, &want); err != nil {
				t.Fatal(err)
			}
			got := ours[0].Print[k]
			why, _, _ := strings.Cut(got.Error, " at column ")
			refused := gdbtest.NotWritten(want.Error)
			want.Error = strings.ReplaceAll(strings.TrimSuffix(want.Error, "."), "'", `"`)
			switch {
			case refused:
				without++
			case sliceMember.MatchString(x) && got.Error == "" && strings.HasPrefix(want.Error, "Attempt to extract a component of a value that is not a structure"):
				// Since release 14, gdb takes a slice of Rust for an array. Where an older one runs, the values are compared.
			case latin1.ReplaceAllStringFunc(got.Value, func(x string) string {
				n, _ := strconv.ParseUint(x[2:], 16, 8)
				return string(rune(n))
			}) == want.Value && got.Error == "" && got.Value != want.Value:
				// gdb 18 shows characters of Rust that have one byte in Latin-1.
			case got.Value != want.Value || why != want.Error:
				t.Errorf("%s: %s: %s%s, gdb has %s%s", function, x, got.Value, got.Error, want.Value, want.Error)
			case got.Error == "":
				same++
			}
		}
		script.Next(t)
	}
	if without > 0 {
		gdbtest.NoOracle(t, without, without+same, gdbtest.CannotWrite(t, "gdb"), "nothing")
	}
	return levels, same
}

// latin1 matches the escape of a character of Rust.
var latin1 = regexp.MustCompile(`\\x[a-f][0-9a-f]`)

// sliceMember matches an expression for a member of a slice of Rust.
var sliceMember = regexp.MustCompile(`^\w+\.(length|data_ptr)$`)

// checkPrinted checks values of expressions in a frame.
func checkPrinted(t *testing.T, p *gdbtest.Process, level int, wants map[string]string) {
	t.Helper()
	expressions := slices.Sorted(maps.Keys(wants))
	for _, got := range printIn(t, p.PID, []int{level}, expressions, "--raw")[0].Print {
		if got.Value != wants[got.Expression] {
			t.Errorf("%s: %s%s, want %s", got.Expression, got.Value, got.Error, wants[got.Expression])
		}
	}
}
