// Fuzzall runs the fuzz tests of all packages, as 'make fuzz' does. A failure does not keep
// the others from running. It ends with a table of them, and with status 1 if one has failed.
//
//	fuzzall -time 1m -run 'Read|Open' ./target/...
//
// With -list it prints their names instead, as a JSON array, for a caller that runs each by itself.
//
// As many run at a time as there are processors, each with one of them. The table says how many
// inputs were read in a second of CPU time, which is the same on a machine that does other things.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
)

func main() {
	r := runner{out: os.Stdout}
	flag.StringVar(&r.goCommand, "go", "go", "the go command")
	flag.StringVar(&r.time, "time", "1m", "how long each fuzz test runs, as go test's -fuzztime has it")
	flag.IntVar(&r.atOnce, "p", runtime.NumCPU(), "how many run at a time")
	which := flag.String("run", "", "a regular expression: fuzz tests of other names are not run")
	list := flag.Bool("list", false, "print the fuzz tests as a JSON array, and run none")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	tests, err := r.find(packages, *which)
	if err != nil {
		fmt.Fprintf(os.Stderr, "fuzzall: %v\n", err)
		os.Exit(1)
	}
	if *list {
		printList(r.out, tests)
		return
	}
	// The terminal interrupts the tests, too. Their results are shown.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts
		r.interrupted.Store(true)
		signal.Stop(interrupts) // a second interrupt ends this program
	}()
	if r.programs, err = os.MkdirTemp("", "fuzzall-"); err != nil {
		fmt.Fprintf(os.Stderr, "fuzzall: %v\n", err)
		os.Exit(1)
	}
	ok := r.runAll(tests)
	os.RemoveAll(r.programs)
	if !ok {
		os.Exit(1)
	}
}

type runner struct {
	out             io.Writer
	goCommand, time string
	programs        string // the folder for the packages' tests
	atOnce          int
	interrupted     atomic.Bool
}

// pkg is a package with fuzz tests.
type pkg struct {
	path, dir string
	cache     string // the folder where the go command keeps the inputs that the fuzzer has found
	build     func() (program string, err error)
}

// test is one fuzz test, and its result.
type test struct {
	*pkg
	name string
	result
}

// find looks for the fuzz tests of packages. It reads the files that the go command would compile
// here: to ask the test programs, it would have to link all of them.
func (r *runner) find(packages []string, which string) ([]test, error) {
	name, err := regexp.Compile(which)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	const format = `{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}`
	out, err := r.ask(append([]string{"list", "-f", format}, packages...)...)
	if err != nil {
		return nil, err
	}
	cache, err := r.ask("env", "GOCACHE")
	if err != nil {
		return nil, err
	}
	var tests []test
	var last *pkg
	for line := range strings.Lines(out) {
		path, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if last == nil || last.path != path {
			last = &pkg{path: path, dir: filepath.Dir(file), cache: filepath.Join(strings.TrimSpace(cache), "fuzz", path)}
			last.build = sync.OnceValues(func() (string, error) { return r.build(path) })
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") && name.MatchString(f.Name.Name) {
				tests = append(tests, test{last, f.Name.Name, result{said: "not run"}})
			}
		}
	}
	if len(tests) == 0 {
		return nil, fmt.Errorf("no fuzz test in %s has a name that matches %q", strings.Join(packages, " "), which)
	}
	return tests, nil
}

// runAll runs tests and prints their table. It reports whether none has failed.
func (r *runner) runAll(tests []test) bool {
	next := make(chan *test)
	go func() {
		defer close(next)
		for i := range tests {
			if next <- &tests[i]; r.interrupted.Load() {
				return
			}
		}
	}()
	workers := max(1, r.atOnce/len(tests))
	var all sync.WaitGroup
	var printing sync.Mutex
	for range min(r.atOnce, len(tests)) {
		all.Go(func() {
			for t := range next {
				out := r.run(t, workers)
				printing.Lock()
				fmt.Fprintf(r.out, "== %s %s: %s\n", t.path, t.name, t.said)
				if t.failed() {
					r.out.Write(out)
				}
				printing.Unlock()
			}
		})
	}
	all.Wait()

	fmt.Fprintln(r.out)
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfuzz test\tinputs\tinputs/CPU s\tnew interesting\tresult")
	for _, t := range tests {
		fmt.Fprintf(table, "%s\t%s\t%d\t%.0f\t%d\t%s\n", t.path, t.name, t.inputs, t.rate(), t.interesting, t.said)
	}
	table.Flush()
	return !slices.ContainsFunc(tests, func(t test) bool { return t.failed() })
}

// printList prints in one line where the tests are.
func printList(w io.Writer, tests []test) {
	type item struct {
		Package string `json:"package"`
		Test    string `json:"test"`
	}
	list := make([]item, len(tests))
	for i, t := range tests {
		list[i] = item{t.path, t.name}
	}
	json.NewEncoder(w).Encode(list)
}

// ask returns the answer of the go command.
func (r *runner) ask(args ...string) (string, error) {
	c := exec.Command(r.goCommand, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}

// counted are the packages whose code counts what the fuzzer has reached: the packages that read
// others' data.
//
// With the go command's own -fuzz, all packages count. Then, after each input, the fuzzer looks
// through the counters of gRPC and of Delve, and code that counts decodes the JSON in which it
// sends them: this took from half to nine tenths of the time of four tests.
var counted = []string{
	"github.com/sfwalk/sfwalk/...", "debug/...", "compress/...", "encoding/binary", "golang.org/x/arch/...", "github.com/google/go-dap",
	"github.com/ianlancetaylor/demangle", "github.com/klauspost/compress/...", "github.com/ulikunitz/xz/...",
}

// build compiles the tests of a package for the fuzzer.
func (r *runner) build(path string) (program string, err error) {
	program = filepath.Join(r.programs, strings.ReplaceAll(path, "/", "-")+".test")
	args := []string{"test", "-c", "-o", program}
	for _, p := range counted {
		args = append(args, "-gcflags="+p+"=-d=libfuzzer")
	}
	out, err := exec.Command(r.goCommand, append(args, path)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

func (r *runner) run(t *test, workers int) (out []byte) {
	program, err := t.build()
	if err != nil {
		t.said = "FAILED: it does not compile"
		return []byte(err.Error())
	}
	// The fuzzer makes each new input smaller, by this many tries at most. A limit of two seconds
	// for each left no time for other inputs.
	c := exec.Command(program, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", r.time, "-test.paniconexit0",
		"-test.v", "-test.fuzzminimizetime", "200x", "-test.parallel", fmt.Sprint(workers), "-test.timeout", "0", "-test.fuzzcachedir", t.cache)
	c.Dir = t.dir
	// The other processors are for other tests; the garbage collector would take them, too.
	c.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", workers))
	out, err = c.CombinedOutput()
	t.result = parse(string(out), err)
	if s := c.ProcessState; s != nil {
		t.cpu = s.UserTime() + s.SystemTime()
	}
	return out
}
