package call

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
)

// callValues are calls in progs/callvalues.c, with what C makes of them.
var callValues = [][2]string{
	{"sumPair(pair)", "34"}, {"sumMixed(mixed)", "17.5"}, {"sumBig(big)", "10451"}, {"getEither(either)", "2.5"}, {"product(wide)", "43.75"},
	{"more(wide)", "{l = 6.25, k = 8}"}, {"exchange(wides)", "{a = 50, b = 97}"}, {"getLetter(letter)", "120 'x'"}, {"sumFloats(floats)", "321"},
	{"addFloats(floats, floats)", "{a = 2, b = 4, c = 6}"}, {"changed(big)", `{v = {1, 77, 3, 4, 5}, n = "hello\000\000"}`},
	{"conjugate(z)", "1 + -2i"}, {"addComplex(zf, zf)", "6 + 8i"}, {"sameComplex(zl)", "5 + 6i"},
	{"many(1, mixed, pair, 2.5, big, 3.5, wide)", "22"}, {"addLong(longDouble, 2)", "3.5"}, {"addLong(0.25, longDouble)", "1.75"},
	{"sumNumbers(numbers, 4)", "10"}, {"sumNumbers(&numbers[1], 2)", "5"}, {"length(text)", "9"},
	{"object.function(5)", "10"}, {"pointer->function(6)", "12"}, {"pointer->operations->twice(7)", "14"},
	{"pointer->operations->make(8, 9)", "{a = 8, b = 9}"}, {"object.operations->make(1, 2).b", "2"}, {"(*pointer->function)(3)", "6"},
	{"variable(11)", "22"}, {"(*variable)(12)", "24"}, {"table[0](13)", "26"},
	{"twice(object.base)", "20"}, {"twice(object.in[2].q)", "6"}, {"twice(object.bits)", "14"}, {"twice(pointer->pair.a + 1)", "18"},
	{"multiply(&pair)", "12"}, {"multiply(&pointer->pair)", "72"}, {"sumPair(pointer->pair)", "89"}, {"sumPair(make(5, 6))", "56"},
	{"make(5, 6)", "{a = 5, b = 6}"}, {"make(5, 6).a + 1", "6"}, {"more(wide).l", "6.25"}, {"object.base", "10"}, {"pair", "{a = 3, b = 4}"},
	{"longDouble", "1.5"},
}

// expressionsOf returns the calls whose values are known.
func expressionsOf(list [][2]string) (expressions []string) {
	for _, x := range list {
		if x[1] != "" {
			expressions = append(expressions, x[0])
		}
	}
	return expressions
}

// checkCallValues compares values with C's.
func checkCallValues(t *testing.T, list [][2]string, ours []string) {
	t.Helper()
	i := 0
	for _, x := range list {
		if x[1] == "" {
			continue
		}
		if ours[i] != x[1] {
			t.Errorf("%s: %s, C has %s", x[0], ours[i], x[1])
		}
		i++
	}
}

// TestCallValues passes and returns structs, long doubles and complex numbers, and calls through
// pointers.
func TestCallValues(t *testing.T) {
	gdbtest.NeedAMD64(t)
	source := gdbtest.Testdata(t, "progs", "callvalues.c")
	locals := [][2]string{{"sumPair(local)", "232"}, {"own(4)", "8"}, {"multiply(&local)", "462"}}
	for _, tt := range []struct {
		name  string
		build func(t *testing.T) string
		list  [][2]string
	}{
		{"O0", func(t *testing.T) string { return gdbtest.Compile(t, source, gdbtest.Tool(t, "gcc"), "-g") }, append(locals, callValues...)},
		{"O2", func(t *testing.T) string { return gdbtest.Compile(t, source, gdbtest.Tool(t, "gcc"), "-g", "-O2") }, callValues},
		{"386", func(t *testing.T) string {
			return gdbtest.Compile(t, source, gdbtest.Compiler386(t), "-static", "-g")
		}, append(locals, callValues...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := gdbtest.Start(t, tt.build(t))
			expressions := expressionsOf(tt.list)
			stdout, stderr, err := commandtest.Execute(New(nil), append([]string{"--", strconv.Itoa(p.PID)}, expressions...)...)
			ours := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if err != nil || stderr != "" || len(ours) != len(expressions) {
				t.Fatalf("%d values of %d: %v %s %q", len(ours), len(expressions), err, stderr, ours)
			}
			checkCallValues(t, tt.list, ours)
		})
	}
}

// TestRemoteCallValues does the same on other processors, at a stub. The first model of amd64 has
// no AVX.
func TestRemoteCallValues(t *testing.T) {
	guests := []guesttest.Guest{{Processor: guesttest.ARM64}, {Processor: guesttest.S390X}, {Processor: guesttest.I386}}
	for _, model := range []string{"Opteron_G1", "Haswell", "EPYC", "max"} {
		guests = append(guests, guesttest.Guest{Processor: guesttest.AMD64, CPU: model})
	}
	for _, guest := range guests {
		t.Run(guest.GOARCH+guest.CPU, func(t *testing.T) {
			cc := guest.Triple + "-gcc"
			if guest.Processor == guesttest.AMD64 {
				gdbtest.NeedAMD64(t)
				cc = "gcc"
			} else {
				gdbtest.File(t, "/usr/"+guest.Triple+"/lib/libc.a")
			}
			path := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "callvalues.c"), gdbtest.Tool(t, cc), "-g", "-static")
			guest.Path = path
			checkCallValues(t, callValues, callsOfGuest(t, &guest, expressionsOf(callValues)))
		})
	}
}

// callInto are expressions in progs/callinto.c, in the order in which one session evaluates them:
// $1 is the first one's.
var callInto = []string{
	"at(1)", "at(0)->next", "*at(0)->next", "$1", "$1->value", "$$2.value", "$", "$$",
	"make(5)->next->value", "make(6)->value + make(7)->value", "*make(8)->next", "copy(request).codes[1]", "copy(*req).in.weight",
	"copy(request).list->next->value", "copy(local).url", "length(req->url)", "length(request.url + 1)", "length(\"abc\\n\")",
	"length((char *) \"typed\")", "first(&req->url[3])", "first(req->url + 4)", "add(req->codes[0], req->codes[2])",
	"add(req->list->value, own.next->next->value)", "add(small, -1)", "add((char) 300, (unsigned char) 511)", "add(2.75, 'a')",
	"weigh(&request)", "weigh(req)", "weigh(&local) > 4", "wide(-5)", "wide(4294967295U)", "wide(req->codes[1] == 301)",
	"kindOf(3)", "kindOf(0) == PLAIN", "kindOf(req->list != 0)", "add(kindOf(1), FANCY)", "sum(req->codes, 3)", "sum(&req->codes[1], 2)",
	"sum(req->codes + 1, sizeof(req->codes) / sizeof(int) - 1)", "apply(add, 3, 4)", "apply(&add, index, time)", "name()", "name()[2]",
	"*name()@3", "at(2)", "at(2) == 0", "!at(0)", "at(1) && kindOf(0)", "at(0) - at(1) > 0 ? 1 : 2", "own.value + at(0)->value", "index",
	"add(index, index)", "time", "add(time, 1)", "&at(0)->next", "*at", "sizeof(at(0)->value)", "(long) at(2)", "(struct node *) at(2)",
	"*(struct node *) at(1)", "at(0)->next->next", "-add(1, 2) * 3", "~add(1, 2)", "{1, 2, 3}", "sum({4, 5, 6}, 3)", "$9 + 1", "$17 + $16",
}

// TestCallInto compares with gdb what calls pass and return where expressions look into it:
// members, elements, what pointers lead to, comparisons, strings, and values of the session.
func TestCallInto(t *testing.T) {
	gdbtest.NeedAMD64(t)
	if why := gdbtest.CannotWrite(t, "gdb"); why != "" {
		gdbtest.NoOracle(t, 1, 1, why, "nothing: gdb makes the same calls")
		return
	}
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "callinto.c"), gdbtest.Tool(t, compiler), "-g"))
			stdout, stderr, err := commandtest.Execute(New(nil), append([]string{"--", strconv.Itoa(p.PID)}, callInto...)...)
			ours := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if err != nil || stderr != "" || len(ours) != len(callInto) {
				t.Fatalf("%d values of %d: %v %s %q", len(ours), len(callInto), err, stderr, ours)
			}
			gdb := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), "gdb.execute(\"frame function main\")\n"+evaluatePy,
				map[string]any{"expressions": callInto, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
			compareCalls(t, gdb, callInto, ours)
		})
	}
}

// printedCalls are expressions in the frame of progs/callinto.c's main.
var printedCalls = []string{
	"length(local.url)", "(int) strlen(req->url)", "add(index, own.value)", "*at(own.value - 41)", "copy(local).codes[1]",
	"length(\"text\") + index", "local.codes[2]", "weigh(&local) > 4",
}

// printArguments are arguments of the command to print them.
func printArguments(verb ...string) []string {
	args := append(verb, "--frame", "main")
	for _, text := range printedCalls {
		args = append(args, "--print", text)
	}
	return args
}

// printedTexts returns what the command has printed of each.
func printedTexts(stdout string) []string {
	values := make([]string, len(printedCalls))
	for i, text := range printedCalls {
		_, values[i], _ = strings.Cut(stdout, "\n        "+text+" = ")
		values[i], _, _ = strings.Cut(values[i], "\n")
	}
	return values
}

// TestRemotePrintCalls compares with gdb what remote --print shows of expressions that call, by
// gdbserver.
func TestRemotePrintCalls(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "callinto.c"), gdbtest.Tool(t, "gcc"), "-g"))
	served := func(settings ...string) string { return "localhost:" + commandtest.GDBServer(t, p.PID, settings...) }
	if why := gdbtest.CannotWrite(t, "gdbserver"); why != "" {
		stdout, _, err := commandtest.Run(printArguments("remote", "--resume", served())...)
		if want := "answers OK to a write that it has not made"; err == nil || !strings.Contains(stdout, want) {
			t.Errorf("%v, want %s\n%s", err, want, stdout)
		}
		gdbtest.NoOracle(t, len(printedCalls), len(printedCalls), why, "the error that such a gdbserver must give")
		return
	}
	settings := gdbtest.Writing(t, "gdbserver")
	stdout, stderr, err := commandtest.Run(printArguments("remote", "--resume", served(settings...))...)
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	ours := printedTexts(stdout)
	p.Rest(t)
	for text, want := range map[string]string{
		"wide()":         "the function takes 1 argument, not 0 at column 1",
		"length(1)":      "the function was ended by SIGSEGV (address 0x1); the thread was put back",
		"nowhere(index)": "No symbol \"nowhere\" in current context at column 1",
	} {
		_, _, err := commandtest.Run("remote", "--resume", served(settings...), "--frame", "main", "--print", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		p.Rest(t)
	}
	if why := gdbtest.CannotWrite(t, "gdb"); why != "" {
		gdbtest.NoOracle(t, len(printedCalls), len(printedCalls), why, "nothing: gdb makes the same calls")
		return
	}
	gdb := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), "gdb.execute(\"frame function main\")\n"+evaluatePy,
		map[string]any{"expressions": printedCalls, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
	compareCalls(t, gdb, printedCalls, ours)
}

// TestPrintCalls compares with gdb what --print shows of expressions that call, in the frame of
// main.
func TestPrintCalls(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "callinto.c"), gdbtest.Tool(t, "gcc"), "-g"))
	texts := printedCalls
	stdout, stderr, err := commandtest.Run(printArguments("attach", strconv.Itoa(p.PID))...)
	if err != nil || stderr != "" {
		t.Fatalf("%v %s", err, stderr)
	}
	ours := printedTexts(stdout)
	if state := statusOf(t, p.PID, "TracerPid"); state != "0" {
		t.Errorf("behind the calls, process %s traces the program", state)
	}
	for text, want := range map[string]string{
		"wide()":         "the function takes 1 argument, not 0 at column 1",
		"length(1)":      "the function was ended by SIGSEGV (address 0x1); the thread was put back",
		"nowhere(index)": "No symbol \"nowhere\" in current context at column 1",
	} {
		_, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--frame", "main", "--print", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	saved := filepath.Join(t.TempDir(), "saved")
	_, _, err = commandtest.Run("attach", strconv.Itoa(p.PID), "--save", saved, "--print", "own.value", "--print", "length(local.url)")
	if _, none := os.Stat(saved); err == nil || none == nil || !strings.Contains(err.Error(), "--print 'length(local.url)' has it run a function") {
		t.Errorf("--save with a call: %v, %v", err, none)
	}
	if why := gdbtest.CannotWrite(t, "gdb"); why != "" {
		gdbtest.NoOracle(t, len(texts), len(texts), why, "nothing: gdb makes the same calls")
		return
	}
	gdb := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), "gdb.execute(\"frame function main\")\n"+evaluatePy,
		map[string]any{"expressions": texts, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
	compareCalls(t, gdb, texts, ours)
	if t.Failed() {
		t.Log(stdout)
	}
}

// callMethods are calls in progs/callmethods.cc, with what C++ makes of them.
var callMethods = [][2]string{
	{"other.times(2)", "8"}, {"other.named()", "1"}, {"pointer->times(3)", "12"}, {"pointer->named()", "104"}, {"base->scaled(2)", "14"},
	{"derived.scaled(2)", "14"}, {"derived.named()", "104"}, {"derived.times(2)", "8"}, {"derived.kept()", "4"}, {"derived.own()", "9"},
	{"(&derived)->own()", "9"}, {"Other::next(5)", "6"}, {"list.size()", "3"}, {"list[1]", "2"},
	{"increment(counter)", "6"}, {"counter", "6"}, {"twice(counter)", "12"}, {"twice(7)", "14"}, {"twice(narrow)", "6"}, {"sum(pair)", "12"},
	{"length(text)", "5"}, {"make(3)", "{a = 3, b = 4}"}, {"make(3).b", "4"}, {"refer().a", "1"}, {"negated(1)", "false"}, {"turned(way)", "Way::out"},
	{"space::triple(4)", "12"}, {"space::triple(space::g)", "21"}, {"space::overloaded(1)", "1"}, {"space::overloaded(2.5f)", "2"},
	{"space::overloaded(int)(1)", "1"}, {"space::overloaded(double)(1)", "2"},
	{"make(3).b == 4", "true"}, {"!negated(1)", "true"}, {"text.size() == length(text)", "true"}, {"derived.own() > other.times(2)", "true"},
	{"make(make(7).a).b", "8"}, {"sum(make(4))", "45"}, {"(&refer())->b + refer().a", "3"}, {"twice(make(5).b)", "12"},
	{"pointer->times(list[1] + 1)", "12"}, {"turned(turned(way)) == way", "true"},
}

// TestCallMethods calls methods of objects, and passes references.
func TestCallMethods(t *testing.T) {
	gdbtest.NeedAMD64(t)
	source := gdbtest.Testdata(t, "progs", "callmethods.cc")
	standalone := map[string][]string{"clang++": {"-fstandalone-debug"}}
	for _, compiler := range []string{"g++", "clang++"} {
		t.Run(compiler, func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Compile(t, source, append([]string{gdbtest.Tool(t, compiler), "-g", "-w"}, standalone[compiler]...)...))
			expressions := expressionsOf(callMethods)
			stdout, stderr, err := commandtest.Execute(New(nil), append([]string{"--", strconv.Itoa(p.PID)}, expressions...)...)
			ours := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			if err != nil || stderr != "" || len(ours) != len(expressions) {
				t.Fatalf("%d values of %d: %v %s %q", len(ours), len(expressions), err, stderr, ours)
			}
			checkCallValues(t, callMethods, ours)
			for text, want := range map[string]string{
				"byValue(copied)":  "only code of the program makes such a copy",
				"other.nothing(1)": "There is no member named nothing. at column 7",
				"other.v(1)":       "what is called is of type int: neither a function nor a pointer to one at column 7",
				"sum(counter)":     "is no object of the class that the function's reference refers to",
				"other.times()":    "the function takes 1 argument, not 0",
			} {
				if _, _, err := commandtest.Execute(New(nil), strconv.Itoa(p.PID), text); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %s", text, err, want)
				}
			}
		})
	}
}
