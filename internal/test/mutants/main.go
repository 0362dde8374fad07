//go:build linux

// Mutants runs sfwalk on files that are changed so that readers may go wrong, and holds it to the
// promises of SECURITY.md: for input below 1 MB, 256 MB of memory, 10 s of CPU time, no panic, a
// bound on the output, and no character that steers a terminal. 'make fuzz' runs it.
//
//	mutants -sfwalk bin/sfwalk -n 100000
//	mutants -sfwalk bin/sfwalk -time 10m -kind 'ELF|core'
//	mutants -sfwalk bin/sfwalk -one format/minidump/4711 -keep found
//
// The changes know the formats: they set counts, sizes and offsets, have tables grow and records
// repeat, have one table lead into another, put holes behind the data, and texts with escapes over
// others. A mutant is the same each time: its number is the seed of the random numbers, if the
// seeds and -seed are the same.
//
// What breaks a promise is kept in a folder of its own, with the command: cd there and run it. The
// exit status is 1 then.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

func main() {
	var d driver
	flag.StringVar(&d.sfwalk, "sfwalk", "bin/sfwalk", "the command")
	flag.Uint64Var(&d.seed, "seed", 1, "the seed of all random numbers")
	flag.StringVar(&d.keep, "keep", "mutants-found", "the folder for what breaks a promise")
	n := flag.Int64("n", 0, "how many mutants; 0 for as many as there is -time for")
	limit := flag.Duration("time", time.Minute, "how long, without -n")
	which := flag.String("kind", "", "a regular expression: formats of other names are left out")
	single := flag.String("one", "", "make and run one mutant alone: KIND/NUMBER")
	atOnce := flag.Int("p", runtime.NumCPU(), "how many run at a time")
	flag.Parse()
	if err := d.begin(*which); err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
		os.Exit(1)
	}
	defer os.RemoveAll(d.dir)
	var ok bool
	if *single != "" {
		ok = d.single(*single)
	} else {
		ok = d.all(*n, *limit, *atOnce)
	}
	if !ok {
		os.RemoveAll(d.dir)
		os.Exit(1)
	}
}

type driver struct {
	sfwalk, keep string
	seed         uint64
	dir          string // for all files
	list         []kind

	mu      sync.Mutex
	results map[string]*result // by kind
	next    atomic.Int64
}

// result sums up the mutants of a kind.
type result struct {
	n, broken int
	codes     map[int]int
	cpu       time.Duration
	memory    int64
	output    int64
}

func (d *driver) begin(which string) (err error) {
	match, err := regexp.Compile(which)
	if err != nil {
		return fmt.Errorf("-kind: %w", err)
	}
	if d.sfwalk, err = filepath.Abs(d.sfwalk); err != nil {
		return err
	}
	if _, err = os.Stat(d.sfwalk); err != nil {
		return fmt.Errorf("-sfwalk: %w: 'make build' makes it", err)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	if d.dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return err
	}
	s := &seeds{root: strings.TrimSpace(string(root)), dir: d.dir, sfwalk: d.sfwalk}
	d.results = map[string]*result{}
	for _, k := range kinds(s) {
		if match.MatchString(k.name) {
			d.list = append(d.list, k)
			d.results[k.name] = &result{codes: map[int]int{}}
		}
	}
	for _, what := range s.missing {
		fmt.Fprintf(os.Stderr, "mutants: left out: %s\n", what)
	}
	debug.SetMemoryLimit(64 << 20) // what run starts counts from this program's memory
	debug.FreeOSMemory()
	if len(d.list) == 0 {
		return fmt.Errorf("-kind %s: no format has such a name", which)
	}
	return nil
}

// all runs n mutants, or as many as there is time for. It reports whether none has broken a
// promise.
func (d *driver) all(n int64, limit time.Duration, atOnce int) bool {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	end := time.Now().Add(limit)
	var workers sync.WaitGroup
	var stopped atomic.Bool
	go func() { <-interrupts; stopped.Store(true) }()
	for i := range atOnce {
		dir := filepath.Join(d.dir, fmt.Sprint("worker", i))
		workers.Go(func() {
			for !stopped.Load() {
				number := d.next.Add(1) - 1
				if n > 0 && number >= n || n == 0 && time.Now().After(end) {
					return
				}
				k, seed := d.at(number)
				d.run(k, seed, dir)
			}
		})
	}
	workers.Wait()
	return d.table()
}

// at returns which mutant the n-th is: one of each format in turn, and of the kinds of a format in
// turn.
func (d *driver) at(n int64) (*kind, uint64) {
	var formats []string
	of := map[string][]*kind{}
	for i := range d.list {
		k := &d.list[i]
		if of[k.format] == nil {
			formats = append(formats, k.format)
		}
		of[k.format] = append(of[k.format], k)
	}
	list, number := of[formats[n%int64(len(formats))]], uint64(n)/uint64(len(formats))
	return list[number%uint64(len(list))], number / uint64(len(list))
}

// single runs one mutant, and keeps it.
func (d *driver) single(name string) bool {
	i := strings.LastIndexByte(name, '/')
	number, err := strconv.ParseUint(name[i+1:], 10, 64)
	for k := range d.list {
		if i > 0 && err == nil && d.list[k].name == name[:i] {
			x, command := d.run(&d.list[k], number, filepath.Join(d.dir, "worker"))
			d.save(&d.list[k], number, filepath.Join(d.dir, "worker"), command, x)
			return x.broken == ""
		}
	}
	fmt.Fprintf(os.Stderr, "mutants: -one %s: want KIND/NUMBER\n", name)
	return false
}

// mostNumbers is for how many numbers of mutants one home folder serves, with the command's caches
// in it.
const mostNumbers = 500

// run makes a mutant in an empty folder and runs a command on it.
func (d *driver) run(k *kind, number uint64, dir string) (outcome, string) {
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	os.RemoveAll(work)
	if number%mostNumbers == 0 { // the caches of files that are gone
		os.RemoveAll(home)
	}
	os.MkdirAll(home, 0o700)
	r := rand.New(rand.NewPCG(d.seed, number))
	m := &mutator{Rand: r, shape: k.shape, others: k.seeds, most: mostSize}
	x := m.mutate(one(m, k.seeds))
	command := strings.ReplaceAll(one(m, k.commands), "FILE", k.file)
	if err := k.place(work, x); err != nil {
		return d.note(k, number, dir, command, outcome{broken: err.Error()}), command
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + work, "TERM=dumb", "GOTRACEBACK=all"}
	return d.note(k, number, dir, command, run(append([]string{d.sfwalk}, strings.Fields(command)...), env, work)), command
}

// note adds an outcome to the results, and keeps the mutant if it has broken a promise.
func (d *driver) note(k *kind, number uint64, dir, command string, x outcome) outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.results[k.name]
	r.n++
	r.codes[x.code]++
	r.cpu, r.memory, r.output = max(r.cpu, x.cpu), max(r.memory, x.memory), max(r.output, x.output)
	if x.broken != "" {
		r.broken++
		d.save(k, number, dir, command, x)
	}
	return x
}

// save keeps a mutant.
func (d *driver) save(k *kind, number uint64, dir, command string, x outcome) {
	to := filepath.Join(d.keep, fmt.Sprintf("%s-%d", strings.ReplaceAll(k.name, " ", "-"), number))
	fmt.Printf("%s/%d: sfwalk %s: %s (exit code %d, %d MB, %v, %d bytes of output): %s\n", k.name, number, command, cmp.Or(x.broken, "kept all promises"), x.code, x.memory>>20, x.cpu.Round(time.Millisecond), x.output, to)
	os.RemoveAll(to)
	os.MkdirAll(to, 0o777)
	// cp keeps holes.
	if out, err := exec.Command("cp", "-r", "--sparse=always", "-T", filepath.Join(dir, "work"), to).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "mutants: %s: %v: %s\n", to, err, out)
	}
	os.WriteFile(filepath.Join(to, "command"), []byte("sfwalk "+command+"\n"), 0o666)
	os.WriteFile(filepath.Join(to, "said"), x.said, 0o666)
}

// table prints the results. It reports whether no promise was broken.
func (d *driver) table() bool {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "format\tmutants\texit codes\tmost memory\tmost CPU time\tmost output\tpromises broken")
	n, broken := 0, 0
	for _, name := range slices.Sorted(maps.Keys(d.results)) {
		r := d.results[name]
		var codes []string
		for _, c := range slices.Sorted(maps.Keys(r.codes)) {
			codes = append(codes, fmt.Sprintf("%d: %d", c, r.codes[c]))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d MB\t%v\t%d kB\t%d\n", name, r.n, strings.Join(codes, ", "), r.memory>>20, r.cpu.Round(time.Millisecond), r.output>>10, r.broken)
		n, broken = n+r.n, broken+r.broken
	}
	w.Flush()
	fmt.Printf("%d mutants, %d have broken a promise\n", n, broken)
	return broken == 0
}
