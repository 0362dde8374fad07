package stacks_test

import (
	"cmp"
	"debug/elf"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
)

// gdbSuites are the parts of gdb's own test suite whose programs are taken.
var gdbSuites = []string{"gdb.base", "gdb.dwarf2", "gdb.arch", "gdb.cp"}

const (
	suiteMoments = 7                // of each program
	suiteLimit   = 10 * time.Second // of the processors' time, for gdb with a program
)

// TestGDBSuite has gdb's own tests build their programs, with the debug information that these
// tests write by hand, stops each program at random functions and some instructions on, and
// compares the stacks that gdb has there with what `sfwalk core` says of a core file of that
// moment. It takes an hour, and installs what it needs: make soak. SFWALK_GDB_SUITE names a folder
// where the suite has run before: below it are its sources in gdb, and its programs in outputs of
// any folder.
func TestGDBSuite(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	gdbtest.NeedRoot(t)
	dir := os.Getenv("SFWALK_GDB_SUITE")
	if dir == "" {
		dir = t.TempDir()
		buildSuite(t, dir)
	}
	counts := suiteCounts{why: make(map[string]int)}
	for _, program := range suitePrograms(t, dir) {
		name, err := filepath.Rel(dir, program)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { counts.program(t, program, name) })
	}
	counts.log(t)
	if os.Getenv("SFWALK_GDB_SUITE") == "" && (counts.programs < 400 || counts.cores < 2000) {
		t.Errorf("%d programs, %d cores: want at least 400 and 2000", counts.programs, counts.cores)
	}
}

// buildSuite runs the suite with this machine's gdb, in several shares at a time. What its tests
// find is of no interest here, so they do not wait long for what gdb does not say.
func buildSuite(t *testing.T, dir string) {
	t.Helper()
	commandtest.SuiteSources(t, dir)
	commandtest.InFolder(t, dir, fmt.Sprintf(`tests=$(cd gdb/gdb/testsuite && ls %s)
for share in 0 1 2 3; do
	mkdir build$share
	(
		cd build$share
		../gdb/gdb/testsuite/configure >configure.log
		echo 'set gdb_test_timeout 3' >site.exp
		runtest --tool gdb --srcdir "$PWD/../gdb/gdb/testsuite" GDB="$(command -v gdb)" \
			$(echo "$tests" | awk "NR %% 4 == $share") >run.log 2>&1 </dev/null || true
	) &
done
wait`, strings.Join(gdbSuites, "/*.exp ")+"/*.exp"))
}

// suitePrograms returns the paths of the programs below dir, each once.
func suitePrograms(t *testing.T, dir string) []string {
	t.Helper()
	var programs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, "/outputs/gdb.") {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode()&0o111 != 0 && runsHere(path) {
			programs = append(programs, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// runsHere reports whether the file is a program for this processor: not a library, nor a core
// file.
func runsHere(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	interpreter := slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	return f.Machine == elf.EM_X86_64 && f.Class == elf.ELFCLASS64 && (f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN && interpreter)
}

// suiteCounts is what was compared.
type suiteCounts struct {
	programs, cores, threads, frames, equal int
	none                                    int // programs that gdb has stopped nowhere
	complaints                              int // warnings of debug information that gdb or readelf finds broken, too
	why                                     map[string]int
}

func (c *suiteCounts) program(t *testing.T, path, name string) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(39, uint64(crc32.ChecksumIEEE([]byte(filepath.Base(name))))))
	own := ownFunctions(path)
	var moments []gdbtest.Moment
	for range suiteMoments {
		if len(own) > 0 {
			moments = append(moments, gdbtest.Moment{Function: own[r.IntN(len(own))], Steps: r.IntN(60)})
		} else {
			moments = append(moments, gdbtest.Moment{Function: entryPoint(t, path), Steps: r.IntN(3000)})
		}
	}
	t.Chdir(dir) // some of these programs write files
	stops, failure := gdbtest.Moments(t, path, dir, moments, suiteLimit)
	came := 0
	for _, stop := range stops {
		if stop.Error == "" {
			came++
			c.core(t, path, &stop)
		}
		os.Remove(stop.Core)
	}
	if came == 0 {
		c.none++
		t.Logf("gdb stopped it nowhere: %v %v", failure, stops)
		return
	}
	c.programs++
}

// ownFunctions returns the names of the functions of the program that its own sources have.
func ownFunctions(path string) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && !startFiles[s.Name] && typedName.MatchString(s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unrandomized is where gdb has the kernel load a program that may lie anywhere.
const unrandomized = 0x555555554000

// entryPoint returns where a program begins, as a number, if gdb runs it without randomized
// addresses.
func entryPoint(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Type == elf.ET_DYN {
		return fmt.Sprintf("%#x", unrandomized+f.Entry)
	}
	return fmt.Sprintf("%#x", f.Entry)
}

// startFiles are functions of crt1.o and crtbegin.o.
var startFiles = map[string]bool{"_init": true, "_fini": true, "_dl_relocate_static_pie": true, "deregister_tm_clones": true,
	"register_tm_clones": true, "__do_global_dtors_aux": true, "frame_dummy": true, "__libc_csu_init": true, "__libc_csu_fini": true}

var typedName = regexp.MustCompile(`^\w+$`)

// core compares the stacks of one core file.
func (c *suiteCounts) core(t *testing.T, path string, stop *gdbtest.Stop) {
	s, err := targets.Core(stop.Core, core.Options{})
	if err != nil {
		t.Errorf("moment %d: %v", stop.Moment, err)
		return
	}
	defer s.Close()
	got, warnings, err := report.Collect(s, &report.Flags{Explain: true})
	if err != nil {
		t.Errorf("moment %d: %v", stop.Moment, err)
	}
	for _, w := range warnings {
		if strings.HasPrefix(w, path+": ") && complainsToo(t, path, w) {
			c.complaints++
		} else {
			t.Errorf("moment %d: warning: %s", stop.Moment, w)
		}
	}
	c.cores++
	for _, w := range stop.Threads {
		i := slices.IndexFunc(got.Threads, func(th report.Thread) bool { return th.TID == w.TID })
		if i < 0 {
			t.Errorf("moment %d: thread %d is missing", stop.Moment, w.TID)
			continue
		}
		c.threads++
		c.frames += len(w.Frames)
		th := &got.Threads[i]
		for j := range w.Frames {
			if w.Frames[j].Type == "inline" {
				w.Frames[j].Code = 0 // releases of gdb differ in where an inlined call begins
			}
		}
		if w.Stop == "limit" {
			th.Frames = th.Frames[:min(len(th.Frames), len(w.Frames))]
		}
		why := commandtest.Differs(th, w)
		switch reason := suiteReason(t, path, th, w); {
		case why == "":
			c.equal++
		case reason != "":
			c.why[reason]++
		default:
			t.Errorf("moment %d, thread %d: %s (gdb: %s)\n%s", stop.Moment, w.TID, why, w.Stop, commandtest.SideBySide(th, w))
		}
	}
}

// suiteReason says why a stack that gdb has in another way is no defect, or returns "".
func suiteReason(t *testing.T, path string, th *report.Thread, w gdbtest.Thread) string {
	n := 0
	for n < len(th.Frames) && n < len(w.Frames) && th.Frames[n].PC.V == w.Frames[n].PC {
		n++
	}
	switch {
	case n == 1 && len(th.Frames) == 1 && th.Stop == frame.NotCode.String():
		return "the PC is no code's, and gdb takes what is on the stack for return addresses"
	case n == len(th.Frames) && th.Whole && n < len(w.Frames) && w.Frames[n].Function == "" && w.Frames[n].Module == "":
		return "nothing has called the outermost function, and gdb takes what is on the stack for return addresses"
	case n == len(w.Frames) && th.Whole && w.Stop == "memory error while unwinding":
		return "gdb ends where a saved register leads to no memory, and the code tells where the frame is"
	}
	if otherStack(th, w) {
		return "a function goes on on another stack, which lies further in, and gdb has no type for that"
	}
	return otherNames(t, path, th, w)
}

// otherStack reports whether a stack is as gdb has it, but for the type of frames from which gdb
// itself goes back in memory.
func otherStack(th *report.Thread, w gdbtest.Thread) bool {
	marked := *th
	marked.Frames = slices.Clone(th.Frames)
	for i := range min(len(th.Frames), len(w.Frames)) {
		back := i > 0 && w.Frames[i].CFA < w.Frames[i-1].CFA || i+1 < len(w.Frames) && w.Frames[i+1].CFA < w.Frames[i].CFA
		if f := &marked.Frames[i]; back && f.Type == frame.OtherStack.String() {
			f.Type = w.Frames[i].Type
		}
	}
	return commandtest.Differs(&marked, w) == ""
}

// otherNames says why gdb has other names for functions of the program in a stack that is the same
// else, or returns "".
func otherNames(t *testing.T, path string, th *report.Thread, w gdbtest.Thread) (reason string) {
	w.Frames = slices.Clone(w.Frames)
	for i := range min(len(th.Frames), len(w.Frames)) {
		f, g := th.Frames[i], &w.Frames[i]
		if f.PC.V != g.PC || g.Module != "" || commandtest.FunctionName(f.Function) == commandtest.FunctionName(g.Function) {
			continue
		}
		switch {
		case sameSymbol(t, path, f.Function, g.Function):
			reason = "a function has several symbols: gdb takes the one whose name comes last in the string table"
		case rangeBeyondCode(t, path, g.PC):
			reason = "gdb names a function whose range reaches beyond the file's code"
			g.Code = 0
		default:
			return ""
		}
		g.Function = ""
	}
	if commandtest.Differs(th, w) != "" {
		return ""
	}
	return reason
}

// sameSymbol reports whether symbols of a file that have these names have the same address.
func sameSymbol(t *testing.T, path, name, other string) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		same := func(o elf.Symbol) bool { return o.Name == other && o.Value == s.Value && o.Section == s.Section }
		if s.Name == name && slices.ContainsFunc(symbols, same) {
			return true
		}
	}
	return false
}

// rangeBeyondCode reports whether gdb has a function at an address of the program, which runs, that
// ends beyond the segment of code.
func rangeBeyondCode(t *testing.T, path string, pc uint64) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Type == elf.ET_DYN {
		pc -= unrandomized
	}
	ask := fmt.Sprintf("python b = gdb.block_for_pc(%d); print('end', b.end if b.function else 'none')", pc)
	out, _ := exec.Command("gdb", "-nx", "-batch", "-ex", ask, path).Output()
	_, text, _ := strings.Cut(string(out), "end ")
	var end uint64
	if _, err := fmt.Sscan(text, &end); err != nil {
		return false
	}
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr < end && end <= p.Vaddr+p.Memsz
	})
}

// complaints are warnings of ours, and what gdb or readelf says if the debug information is broken
// so. $1 is a number of ours.
var complaints = []struct {
	ours   *regexp.Regexp
	theirs string
}{
	{regexp.MustCompile(`read lines of unit`), `mangled \.debug_line section|Badly formed extended line op`},
	{regexp.MustCompile(`DWARF version (\d+)`),
		`wrong version in compilation unit header \(is $1,|unsupported version number: $1\b`},
	{regexp.MustCompile(`debug file does not belong to the module`), `debug information found in .* does not match`},
	{regexp.MustCompile(`split debug information .*: no such file`), `Could not find DWO CU`},
	{regexp.MustCompile(`address size (\d+)`), `invalid pointer size $1\b|Invalid pointer size \($1\)`},
}

// complainsToo reports whether gdb or readelf complains as well of what a warning says of a
// program.
func complainsToo(t *testing.T, path, warning string) bool {
	t.Helper()
	said, _ := exec.Command("gdb", "-nx", "-batch", "-iex", "set complaints 1000", "-readnow", path).CombinedOutput()
	more, _ := exec.Command(gdbtest.Tool(t, "readelf"), "--debug-dump=info,rawline", path).CombinedOutput()
	said = append(said, more...)
	for _, c := range complaints {
		if m := c.ours.FindStringSubmatchIndex(warning); m != nil {
			pattern := string(c.ours.ExpandString(nil, c.theirs, warning, m))
			if regexp.MustCompile(pattern).Match(said) {
				return true
			}
		}
	}
	return false
}

func (c *suiteCounts) log(t *testing.T) {
	t.Logf("%d programs (%d more stopped nowhere), %d cores, %d stacks with %d frames of gdb's: %d stacks equal",
		c.programs, c.none, c.cores, c.threads, c.frames, c.equal)
	t.Logf("%5d warnings of debug information of which gdb or readelf complains, too", c.complaints)
	reasons := make([]string, 0, len(c.why))
	for reason := range c.why {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Compare(c.why[b], c.why[a]) })
	for _, reason := range reasons {
		t.Logf("%5d: %s", c.why[reason], reason)
	}
}
