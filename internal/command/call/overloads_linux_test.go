package call

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// overloadedCalls are calls of functions of progs/overloads.cc: of each with each argument.
func overloadedCalls() (calls [][3]string) {
	arguments := strings.Fields(`character signedChar unsignedChar small unsignedSmall integer fixed natural large unsignedLarge
		largest single number64 precise yes wideChar char16 char32 text constText letters list fixedList address fixedAddress
		anything fixedAnything base middle derived fixedDerived other toBase toMiddle toDerived toFixed toOther plain tinyEnum scoped
		reference fixedReference object child toObject thing &thing way 1 1L 1u 1ul 2.5 2.5f 'a' "text" true red &integer &base &derived
		function &function integer+1 small+small single*2 list[1] *address derived.b toDerived->m -1 !yes`)
	functions := strings.Fields(`numbers wide unsign narrow real pointers truth objects bound moved bases parts enums promoted
		constant arrays callbacks two found object.at child.at object.make Object::make object.over child.over toObject->over object.mixed abs labs space::inner space::found`)
	for _, f := range functions {
		for _, arg := range arguments {
			calls = append(calls, [3]string{f, arg, f + "(" + arg + ")"})
		}
	}
	return calls
}

// otherOverloadedCalls are calls with several arguments, or none.
var otherOverloadedCalls = []string{
	"two(1, 2.5)", "two(2.5, 1)", "two(single, character)", "two(text, 1)", "two(1, 2, 3)", "two(plain, number64)", "two(yes, number64)",
	"two(\"text\", large)", "two(small, single)", "two(number64, small)",
	"object.get()", "fixedObject.get()", "toObject->get()", "child.get()", "space::found(thing)", "::found(1)", "found(*(&thing))",
}

// alone are functions of which there is one, or one of C: numbers and pointers are converted for
// these as C does, where C++ and gdb refuse.
var alone = []string{"child.at", "abs", "labs", "found"}

// TestOverloads compares the functions that calls go to with what the compiler chooses, and, where
// it refuses to choose, with what gdb does.
func TestOverloads(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for i, compiler := range []string{"g++", "clang++"} {
		t.Run(compiler, func(t *testing.T) {
			gdbtest.Share(t, i)
			calls := overloadedCalls()
			texts := make([]string, len(calls))
			var answers strings.Builder
			answers.WriteString("int answers[] = {\n")
			for i, c := range calls {
				texts[i] = c[2]
				fmt.Fprintf(&answers, "[](auto &&a) { if constexpr (requires { %[1]s(static_cast<decltype(a)>(a)); })"+
					" return %[1]s(static_cast<decltype(a)>(a)).n; else return 0; }(%[2]s),\n", c[0], c[1])
			}
			answers.WriteString("};\n")
			path := filepath.Join(t.TempDir(), "answers.h")
			if err := os.WriteFile(path, []byte(answers.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			standalone := map[string][]string{"clang++": {"-fstandalone-debug"}}
			source := gdbtest.Testdata(t, "progs", "overloads.cc")
			program := gdbtest.Compile(t, source, append([]string{gdbtest.Tool(t, compiler), "-std=c++20", "-g", "-w", "-DANSWERS=\"" + path + "\""}, standalone[compiler]...)...)
			p := gdbtest.Start(t, program)

			compiled := answersOf(t, p.PID, len(calls))
			texts = append(texts, otherOverloadedCalls...)
			ours := chosen(t, p.PID, texts)
			script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), whatisPy, map[string]any{"expressions": texts, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
			asCompiler, asGDB, left, gdbDiffers, lenient := 0, 0, 0, 0, 0
			for i, text := range texts {
				var gdb struct{ Type, Error string }
				if err := json.Unmarshal(script.Next(t), &gdb); err != nil {
					t.Fatal(err)
				}
				switch {
				case i < len(compiled) && compiled[i] != 0:
					want := fmt.Sprintf("Is<%d>", compiled[i])
					asCompiler++
					if gdb.Type != want {
						gdbDiffers++
					}
					if ours[i].Type != want {
						t.Errorf("%s: %s %s, the compiler has %s, gdb %s %s", text, ours[i].Type, ours[i].Error, want, gdb.Type, gdb.Error)
					}
				case ours[i].Error != "": // as the compiler says
					if left++; i >= len(compiled) {
						t.Errorf("%s: %s, gdb has %s %s", text, ours[i].Error, gdb.Type, gdb.Error)
					}
				case i < len(calls) && slices.Contains(alone, calls[i][0]):
					lenient++
				case ours[i].Type != gdb.Type && !strings.HasPrefix(text, "unsign("): // of which gdb takes the first that it knows
					t.Errorf("%s: %s, gdb has %s %s", text, ours[i].Type, gdb.Type, gdb.Error)
				default:
					asGDB++
				}
			}
			t.Logf("%d calls as the compiler chooses, of which gdb chooses %d otherwise; %d that gdb allows, too; %d that C allows; %d refused", asCompiler, gdbDiffers, asGDB, lenient, left)
			if asCompiler < 500 || asGDB < 20 {
				t.Errorf("%d calls were compared with the compiler's choice, %d with gdb's", asCompiler, asGDB)
			}
		})
	}
}

// whatisPy has gdb tell the types of expressions, which tell the function that it would call.
const whatisPy = `
gdb.execute("set debuginfod enabled off")
gdb.execute("frame function main")
for text in PARAMS["expressions"]:
    try:
        emit({"Type": gdb.execute("whatis " + text, to_string=True).split(" = ", 1)[1].strip()})
    except gdb.error as e:
        emit({"Error": str(e)})
emit({"end": True})
OUT.close()
`

// answersOf returns what the compiler has called for each expression.
func answersOf(t *testing.T, pid, n int) (answers []int) {
	t.Helper()
	list := printedInMain(t, pid, []string{"answers"}, "--print-elements", strconv.Itoa(n), "--print-repeats", strconv.Itoa(n))
	for _, text := range strings.Split(strings.Trim(list[0].Value, "{}"), ", ") {
		i, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, i)
	}
	if len(answers) != n {
		t.Fatalf("%d answers of %d", len(answers), n)
	}
	return answers
}

// printedValue is what --print --json says of an expression.
type printedValue struct{ Expression, Type, Value, Error string }

// printedInMain evaluates expressions in the frame of main.
func printedInMain(t *testing.T, pid int, texts []string, flags ...string) []printedValue {
	t.Helper()
	args := append([]string{"attach", strconv.Itoa(pid), "--json", "--frame", "main"}, flags...)
	for _, text := range texts {
		args = append(args, "--print", text)
	}
	stdout, stderr, wrong := commandtest.Run(args...) // an expression without a value is an error
	var doc struct {
		Threads []struct {
			Frames []struct{ Print []printedValue }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%v: %s, %v", err, stderr, wrong)
	}
	for _, f := range doc.Threads[0].Frames {
		if len(f.Print) > 0 {
			if len(f.Print) != len(texts) {
				t.Fatalf("%d values of %d", len(f.Print), len(texts))
			}
			return f.Print
		}
	}
	t.Fatalf("no values: %s%s", stdout, stderr)
	return nil
}

// chosen evaluates expressions, and checks that the value is of the function whose type it has.
func chosen(t *testing.T, pid int, texts []string) (list []printedValue) {
	t.Helper()
	for some := range slices.Chunk(texts, 200) {
		list = append(list, printedInMain(t, pid, some)...)
	}
	for _, v := range list {
		n := strings.TrimSuffix(strings.TrimPrefix(v.Type, "Is<"), ">")
		if v.Error == "" && v.Type != n && v.Value != "{n = "+n+"}" {
			t.Errorf("%s: %s of type %s", v.Expression, v.Value, v.Type)
		}
	}
	return list
}

// TestOverloadsRefused checks what is said where no function is best, or none fits.
func TestOverloadsRefused(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "overloads.cc"), gdbtest.Tool(t, "g++"), "-std=c++20", "-g", "-w"))
	for text, want := range map[string]string{
		"two(1, 1)":          "several functions fit as well: two(int, double), two(double, int). Cast an argument, or write the types of the parameters behind the name, as in 'two(",
		"numbers(base)":      "no function numbers takes (Base): there are numbers(int), numbers(long), numbers(double), numbers(const char *) at column 1",
		"object.at(base)":    "no function at takes (Base): there are at(int), at(double), at(const char *) at column 8",
		"numbers(1, 2)":      "no function numbers takes (int, int): there are",
		"object.inlined(1)":  "the program has no code of inlined(int): inlined everywhere, or never called",
		"fixedObject.at(1)":  "no function at takes (int): there are",
		"child.at(1.5)":      "a value of type double is passed where the function takes int *",
		"numbers(nothing())": "No symbol \"nothing\" in current context at column 9",
	} {
		if got := printedInMain(t, p.PID, []string{text, "object.get()"}); !strings.HasPrefix(got[0].Error, want) {
			t.Errorf("%s: %s %s, want %s", text, got[0].Value, got[0].Error, want)
		}
	}
	// What is said can be followed.
	for text, want := range map[string]string{
		"two(int, double)(1, 1)": "Is<1>", "two(1, (double) 1)": "Is<1>", "object.inlined(\"text\")": "Is<12>",
		"two(other, 1)": "Is<6>", "two(other, 1, 2, text)": "Is<6>", // gdb knows no function with "...",
	} {
		if got := printedInMain(t, p.PID, []string{text}); got[0].Type != want {
			t.Errorf("%s: %s %s, want %s", text, got[0].Type, got[0].Error, want)
		}
	}
}
