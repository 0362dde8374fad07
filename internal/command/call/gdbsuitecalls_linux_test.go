package call

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// suiteCallsPy makes up calls of the functions of a program's main file: each with that file's
// variables of its parameters' types, and with numbers. Functions of variable arguments get no more
// than they name. Then it names the variables.
const suiteCallsPy = `
NUMBERS = {
    gdb.TYPE_CODE_INT: ["1", "-2", "77", "'a'", "300"],
    gdb.TYPE_CODE_CHAR: ["'b'", "65"],
    gdb.TYPE_CODE_FLT: ["0.5", "-2.25", "3"],
    gdb.TYPE_CODE_ENUM: ["1"],
    gdb.TYPE_CODE_BOOL: ["1", "0"],
}


def plain(type):
    return type.strip_typedefs().unqualified()


def fits(wanted, has):
    if wanted.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        wanted = plain(wanted.target())
    if wanted.code == gdb.TYPE_CODE_PTR and has.code == gdb.TYPE_CODE_ARRAY:
        return str(plain(has.target())) == str(plain(wanted.target()))
    return str(has) == str(wanted)


symbols = {}
main = gdb.lookup_global_symbol("suite_main")
main = (main or gdb.lookup_global_symbol("suite_main()")).symtab
for block in (main.global_block(), main.static_block()):
    for symbol in block:
        symbols.setdefault(symbol.name, symbol)
variables = {name: s for name, s in symbols.items() if s.is_variable}
for name, symbol in sorted(symbols.items()):
    name = name.split("(")[0]
    if not symbol.is_function or name in PARAMS["without"]:
        continue
    choices = []
    for field in symbol.type.fields():
        wanted = plain(field.type)
        fit = [other for other in sorted(variables) if fits(wanted, plain(variables[other].type))]
        choices.append(NUMBERS.get(wanted.code, []) + fit)
    if all(choices):
        for i in range(min(max(map(len, choices)) + 2, 24) if choices else 1):
            arguments = ", ".join(c[i * (k + 1) % len(c)] for k, c in enumerate(choices))
            emit({"Value": "%s(%s)" % (name, arguments)})
for name in sorted(variables):
    emit({"Value": name})
emit({"end": True})
OUT.close()
`

// suiteEvaluatePy has gdb give up a call that a signal ends, and look for
// names in main.
const suiteEvaluatePy = `
gdb.execute("set unwindonsignal on")
gdb.execute("frame function main")
`

// suiteReady waits where gdb's programs have their main.
const suiteReady = `#include <stdio.h>
#include <unistd.h>
#undef main
static char none;
int main(void) { puts("ready"); fflush(stdout); while (read(0, &none, 1) > 0) ; return 0; }
`

// suiteCalls are programs of gdb's suite whose functions it calls.
var suiteCalls = []struct {
	file  string
	flags []string // the compiler's, of each variant
	calls []string // of functions that take more arguments than they name
}{
	{"gdb.base/callfuncs.c", []string{"", "-DPROTOTYPES", "-O2"}, nil},
	{"gdb.base/call-ar-st.c", []string{"", "-O2"}, nil},
	{"gdb.base/call-rt-st.c", []string{"", "-O2"}, nil},
	{"gdb.base/call-strs.c", []string{""}, nil},
	{"gdb.base/varargs.c", []string{"-DTEST_COMPLEX", "-DTEST_COMPLEX -O2"}, []string{
		"find_max1(5, 1, 2, 3, 4, 5)", "find_max1(1, 3)", "find_max1(10, 1, 2, 3, 4, 5, 6, 29, 8, 9, 10)",
		"find_max2(3, 1, 2, 3)", "find_max_double(5, 1.0, 17.0, 2.0, 3.0, 4.0)",
		"find_max_float_real(4, fc1, fc2, fc3, fc4)", "find_max_double_real(4, dc1, dc2, dc3, dc4)",
		"find_max_long_double_real(4, ldc1, ldc2, ldc3, ldc4)",
		"find_max_struct_long_double_real(4, sldc1, sldc2, sldc3, sldc4)"}},
	{"gdb.base/funcargs.c", []string{"", "-O2"}, nil},
	{"gdb.base/structs.c", suiteStructs(""), nil},
	{"gdb.base/call-sc.c", []string{"-DT=tc", "-DT=ts", "-DT=ti", "-DT=tl", "-DT=tll", "-DT=tf", "-DT=td", "-DT=tld",
		"-DT=te"}, nil},
	{"gdb.base/all-types.c", []string{""}, nil},
	{"gdb.base/infcall-nested-structs.c", nestedStructs(), nil},
}

// suiteTypes are the types of the members of structs, in turn.
var suiteTypes = []string{"tc", "ts", "ti", "tl", "tf", "td", "tld", "tc tf", "tf td", "td ti", "tl tc", "tld tc",
	"tc tf td"}

// suiteStructs are variants of a program of structs, by the types of their members.
func suiteStructs(more string) (flags []string) {
	for _, types := range suiteTypes {
		flag := more
		for i, name := range strings.Fields(types) {
			flag += fmt.Sprintf(" -Dt%c=%s", 'A'+i, name)
		}
		flags = append(flags, flag)
	}
	return flags
}

// nestedStructs are variants of a program whose structs are in structs, in C and in C++.
func nestedStructs() []string {
	complexes := []string{"-O2 -DTEST_COMPLEX -DtA=tfc", "-O2 -DTEST_COMPLEX -DtA=tdc", "-O2 -DTEST_COMPLEX -DtA=tldc"}
	return slices.Concat(suiteStructs("-O2"), suiteStructs("-x c++ -O2"), complexes)
}

// TestGDBSuiteCalls has `sfwalk call` call functions of gdb's own suite, of the programs in which
// the suite has gdb call functions, and compares what they return, and what they leave in
// variables, with what gdb has.
func TestGDBSuiteCalls(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	src := os.Getenv("SFWALK_GDB_SUITE")
	if src == "" {
		src = t.TempDir()
		commandtest.SuiteSources(t, src)
	}
	ready := filepath.Join(t.TempDir(), "ready.c")
	if err := os.WriteFile(ready, []byte(suiteReady), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, program := range suiteCalls {
		for _, flags := range program.flags {
			t.Run(program.file+flags, func(t *testing.T) {
				cmd := []string{gdbtest.Tool(t, "gcc"), "-g", "-w", "-no-pie", "-Dmain=suite_main"}
				cmd = append(append(cmd, strings.Fields(flags)...), ready, "-lm")
				file := gdbtest.Compile(t, filepath.Join(src, "gdb/gdb/testsuite", program.file), cmd...)
				calls += compareSuiteCalls(t, file, program.calls)
			})
		}
	}
	if t.Logf("%d calls and variables", calls); calls < 8000 && gdbtest.CannotWrite(t, "gdb") == "" {
		t.Error("want at least 8000")
	}
}

// compareSuiteCalls makes these calls, and others, in a program, and compares what they return, and
// its variables behind them, with gdb's. It returns how many it has compared.
func compareSuiteCalls(t *testing.T, file string, calls []string) int {
	t.Helper()
	leftOut := []string{"suite_main"}
	for _, call := range calls {
		name, _, _ := strings.Cut(call, "(")
		leftOut = append(leftOut, name)
	}
	expressions := slices.Clone(calls)
	params := map[string]any{"names": map[string]string{}, "without": leftOut}
	script := gdbtest.StartScript(t, "gdb", suiteCallsPy, params, file)
	for record := script.Next(t); record != nil; record = script.Next(t) {
		var x struct{ Value string }
		if err := json.Unmarshal(record, &x); err != nil {
			t.Fatal(err)
		}
		expressions = append(expressions, x.Value)
	}
	start := func() string { // without randomized addresses: the heap's, too, are the same
		p := gdbtest.Start(t, gdbtest.Tool(t, "setarch"), "-R", file)
		go io.Copy(io.Discard, p.Stdout)
		return strconv.Itoa(p.PID)
	}
	ours := callAll(t, start(), expressions)
	params["expressions"] = expressions
	evaluate := suiteEvaluatePy + strings.Replace(evaluatePy, "unlimited", "10", 1)
	script = gdbtest.StartScript(t, "gdb", evaluate, params, "-p", start())
	without := 0
	for i, x := range expressions {
		var want struct{ Value, Error string }
		if err := json.Unmarshal(script.Next(t), &want); err != nil {
			t.Fatal(err)
		}
		if gdbtest.NotWritten(want.Error) {
			without++
			continue
		}
		if want.Error != "" {
			want.Value = suiteError(want.Error)
		}
		if want.Value == "void" {
			want.Value = ""
		}
		if mine, theirs := barePointer(ours[i]), barePointer(want.Value); mine != theirs {
			t.Errorf("%s: %s, gdb has %s", x, mine, theirs)
		}
	}
	if without > 0 {
		gdbtest.NoOracle(t, without, len(expressions), gdbtest.CannotWrite(t, "gdb"), "nothing")
	}
	return len(expressions) - without
}

// callAll has a process evaluate expressions, and returns their values, or errors.
func callAll(t *testing.T, pid string, expressions []string) (values []string) {
	t.Helper()
	for len(values) < len(expressions) {
		args := append([]string{"--json", "--", pid}, expressions[len(values):]...)
		stdout, stderr, err := commandtest.Execute(New(nil), args...)
		decoder := json.NewDecoder(strings.NewReader(stdout))
		failed := false
		for decoder.More() {
			var doc struct{ Value, Error string }
			if err := decoder.Decode(&doc); err != nil {
				t.Fatal(err)
			}
			if failed = doc.Error != ""; failed {
				doc.Value = suiteError(doc.Error)
			}
			values = append(values, doc.Value)
		}
		if err != nil && !failed {
			values = append(values, suiteError(err.Error()+stderr))
		}
	}
	return values
}

var pointerForm = regexp.MustCompile(`^(?:\([^()]*\*\) )?(0x\w+)(?: <\S+>)?`)

// barePointer returns a value without a pointer's type and what it points to: a call's value has
// none.
func barePointer(value string) string { return pointerForm.ReplaceAllString(value, "$1") }

// suiteError returns what both debuggers say of a call that has failed.
func suiteError(text string) string {
	for _, said := range []string{"ended by SIG", "was signaled while in a function called from GDB"} {
		if strings.Contains(text, said) {
			return "ended by a signal"
		}
	}
	return text
}
