// Fuzzall runs the fuzz tests of all packages, as 'make fuzz' does. A failure does not keep
// the others from running. It ends with a table of them, and with status 1 if one has failed.
//
//	fuzzall -time 1m -run 'Read|Open' ./target/...
//
// As many run at a time as there are processors, each with one of them: what the table says of
// inputs a second is of one processor.
package main

import (
	"flag"
	"fmt"
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
	// The terminal interrupts the tests as well. What they have done is shown.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		<-interrupts
		r.interrupted.Store(true)
		signal.Stop(interrupts) // the second time, this ends
	}()
	if !r.runAll(tests) {
		os.Exit(1)
	}
}

type runner struct {
	out             io.Writer
	goCommand, time string
	atOnce          int
	interrupted     atomic.Bool
}

// test is one fuzz test, and what has come of it.
type test struct {
	pkg, name string
	result
}

var declaration = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// find looks for the fuzz tests of packages. It reads the files that the go command would
// compile here: to ask their programs, all of these would have to be linked.
func (r *runner) find(packages []string, which string) ([]test, error) {
	name, err := regexp.Compile(which)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	const format = `{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}`
	list := exec.Command(r.goCommand, append([]string{"list", "-f", format}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var tests []test
	for line := range strings.Lines(string(out)) {
		pkg, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return nil, err
		}
		for _, m := range declaration.FindAllSubmatch(text, -1) {
			if name.Match(m[1]) {
				tests = append(tests, test{pkg, string(m[1]), result{said: "not run"}})
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
				fmt.Fprintf(r.out, "== %s %s: %s\n", t.pkg, t.name, t.said)
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
	fmt.Fprintln(table, "package\tfuzz test\tinputs\tinputs/s\tnew interesting\tresult")
	for _, t := range tests {
		fmt.Fprintf(table, "%s\t%s\t%d\t%.0f\t%d\t%s\n", t.pkg, t.name, t.inputs, t.rate(), t.interesting, t.said)
	}
	table.Flush()
	return !slices.ContainsFunc(tests, func(t test) bool { return t.failed() })
}

func (r *runner) run(t *test, workers int) (out []byte) {
	// What is new is made smaller by so many tries. Two seconds for each, as they were, left no
	// time for others.
	c := exec.Command(r.goCommand, "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", r.time,
		"-fuzzminimizetime", "200x", "-parallel", fmt.Sprint(workers), "-timeout", "0", t.pkg)
	out, err := c.CombinedOutput()
	t.result = parse(string(out), err)
	return out
}
