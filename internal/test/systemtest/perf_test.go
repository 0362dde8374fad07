//go:build linux && system

package systemtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// perf has the guest's perf record programs, and reads its files on this machine: the stacks are as
// the guest's perf script prints them. SFWALK_PERF_FIXTURES names a folder to which the files of
// record/testdata/perf are written.
func (g *Guest) perf(t *testing.T) {
	sfwalk := filepath.Join(g.Temp, "sfwalk-here")
	build := exec.Command("go", "build", "-o", sfwalk, "./cmd/sfwalk")
	build.Dir, build.Env = g.Source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	regs := ""
	if g.GOARCH == "arm64" { // the length of vectors, which perf asks for otherwise, no event of the kernel's own has
		regs = "--user-regs=lr"
		for i := range 30 {
			regs += fmt.Sprintf(",x%d", i)
		}
	}
	for _, c := range []struct {
		name, source, arguments, flags string
		cc                             []string
		calls                          int
	}{
		{"libc", "testdata/progs/shares.c", "2 12 3", "-F 100 --call-graph dwarf,8192", []string{"-O2", "-fomit-frame-pointer", "-pthread"}, 13},
		{"compressed", "testdata/progs/shares.c", "2 12 3", "-z --buildid-mmap -F 100 --call-graph dwarf,8192", []string{"-O2", "-fomit-frame-pointer", "-pthread"}, 13},
		{"deep", "record/testdata/perf/deep.c", "", "-F 5 --call-graph dwarf,3072", []string{"-O2", "-fomit-frame-pointer", "-fasynchronous-unwind-tables", "-fno-stack-protector", "-nostdlib", "-static"}, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			exe := filepath.Join(g.Temp, c.name)
			cc := exec.Command(g.Triple+"-gcc", append(append([]string{"-o", exe, "-Wl,--build-id,--eh-frame-hdr"}, c.cc...), filepath.Join(g.Source, c.source))...)
			if out, err := cc.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			g.Put(t, exe, exe)
			file := filepath.Join(g.Temp, c.name+".data")
			g.Shell(t, patience, fmt.Sprintf("perf record -q -e cpu-clock:u %s %s -o %s -- timeout 6 %s %s >&2 || [ $? = 124 -o $? = 143 ]", regs, c.flags, file, exe, c.arguments))
			script := g.Shell(t, patience, fmt.Sprintf("perf script -i %s --no-inline --ns -F tid,time,ip,sym,dso 2>/dev/null", file))
			g.Get(t, file, file)
			// perf has put the guest's vDSO into its cache.
			caches := filepath.Join(g.Temp, "caches")
			for name := range strings.FieldsSeq(g.Shell(t, patience, "cd /root/.debug && ls .build-id/*/*/vdso || true")) {
				to := filepath.Join(caches, name)
				if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
					t.Fatal(err)
				}
				g.Get(t, "/root/.debug/"+name, to)
			}
			cmd := exec.Command(sfwalk, "perf", file, "--buildid-dir", caches, "--sysroot", g.Root, "--no-lines", "--format", "folded", "-o", "-")
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("sfwalk perf: %v\n%s", err, said.String())
			}
			ours, theirs := map[string]int{}, map[string]int{}
			for line := range strings.Lines(string(out)) {
				i := strings.LastIndexByte(strings.TrimSpace(line), ' ')
				n, _ := strconv.Atoi(strings.TrimSpace(line[i+1:]))
				ours[program.FindString(line[:i]+";")] += n
			}
			for _, sample := range strings.Split(script, "\n\n") {
				var names string
				for _, m := range regexp.MustCompile(`(?m)^\s+[0-9a-f]+ (\S+) \(`).FindAllStringSubmatch(sample, -1) {
					name, _, _ := strings.Cut(m[1], "+")
					names = name + ";" + names
				}
				if strings.TrimSpace(sample) != "" {
					theirs[program.FindString(names)]++
				}
			}
			all := 0
			for stack, n := range theirs {
				all += n
				// perf loses some stacks that begin in the vDSO. Where records alone have build
				// IDs, those do not tell the vDSO's.
				if least := map[bool]int{true: n / 2, false: n}[c.name == "compressed"]; stack != "" && ours[stack] < least {
					t.Errorf("%s: %d samples, perf has %d", stack, ours[stack], n)
				}
			}
			for stack, n := range ours {
				// Now and then s390x's kernel copies less of a stack than there is; then perf has
				// no more.
				if stack != "" && strings.Count(stack, "deeper;") != c.calls && theirs[stack] != n {
					t.Errorf("%d samples of %s", n, stack)
				}
			}
			t.Logf("%d samples: %v\n%s", all, ours, said.String())
			if all < 20 {
				t.Errorf("perf has %d samples\n%s", all, script)
			}
			if dir := os.Getenv("SFWALK_PERF_FIXTURES"); dir != "" && c.name == "deep" {
				dir = filepath.Join(dir, g.GOARCH)
				g.keep(t, dir, exe, file, script)
			}
		})
	}
}

// program finds the calls of the program in a stack, outermost first.
var program = regexp.MustCompile(`(?:deeper;)+(?:half|three_tenths|one_fifth|work);`)

// keep writes a program, its recording and what perf script prints of it to a folder.
func (g *Guest) keep(t *testing.T, dir, exe, file, script string) {
	t.Helper()
	err := os.MkdirAll(dir, 0o777)
	for name, from := range map[string]string{filepath.Base(exe): exe, "perf.data": file} {
		b, readErr := os.ReadFile(from)
		if err == nil {
			err = readErr
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "script.txt"), []byte(script), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
