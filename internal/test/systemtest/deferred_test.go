//go:build linux && system

package systemtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDeferred boots a kernel by which frames of the program come in records of their own, has its
// perf record one, and reads the file on this machine: the stacks are as the guest's perf script
// prints them. SFWALK_PERF_FIXTURES names a folder to which record/testdata/perf/deferred is
// written.
func TestDeferred(t *testing.T) {
	g := Boot(t, Later)
	t.Log(g.Shell(t, patience, "uname -srm"))
	exe, file := filepath.Join(g.Temp, "deferred"), filepath.Join(g.Temp, "perf.data")
	cc := exec.Command(g.Triple+"-gcc", "-O1", "-fno-omit-frame-pointer", "-fno-stack-protector", "-fcf-protection=none",
		"-nostdlib", "-static", "-Wl,--build-id", "-o", exe, filepath.Join(g.Source, "record", "testdata", "perf", "deferred.c"))
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g.Put(t, exe, exe)
	const events = "-e cpu-clock/freq=99/ -e context-switches/period=1/"
	g.Shell(t, patience, fmt.Sprintf("perf record -q --call-graph fp,defer %s -o %s %s", events, file, exe))
	script := g.Shell(t, patience, "perf script --no-inline --ns -F tid,time,event,ip,sym,dso 2>/dev/null -i "+file)
	g.Get(t, file, file)
	if dir := os.Getenv("SFWALK_PERF_FIXTURES"); dir != "" {
		g.keep(t, filepath.Join(dir, "deferred"), exe, file, script)
	}
	deep := 0
	for _, event := range []string{"cpu-clock/freq=99/", "context-switches/period=1/"} {
		ours, theirs, all := map[string]int{}, map[string]int{}, 0
		for sample := range strings.SplitSeq(strings.Trim(script, "\n"), "\n\n") {
			head, frames, _ := strings.Cut(sample, "\n")
			if !strings.HasSuffix(strings.TrimRight(head, ": "), " "+event) {
				continue
			}
			names, kernel := []string(nil), 0
			for _, m := range scriptFrame.FindAllStringSubmatch(frames, -1) {
				if m[1] != "" {
					kernel++
				} else {
					names = append(names, m[2])
				}
			}
			slices.Reverse(names)
			theirs[fmt.Sprint(names, " and ", kernel)]++
			all++
		}
		folded := g.here(t, "perf", file, "--event", event, "--no-lines", "--format", "folded", "-o", "-")
		for line := range strings.Lines(folded) {
			line = strings.TrimSpace(line)
			space := strings.LastIndexByte(line, ' ')
			n, err := strconv.Atoi(line[space+1:])
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			other := func(f string) bool { return !ofDeferred.MatchString(f) }
			names := slices.DeleteFunc(strings.Split(line[:space], ";"), other)
			ours[fmt.Sprint(names, " and ", strings.Count(line, "[kernel]"))] += n
			all -= n
		}
		t.Logf("%s:\n%v\nperf:\n%v", event, ours, theirs)
		lost := 0
		for stack, n := range theirs {
			if strings.Contains(stack, "deeper deeper deeper") {
				deep += n
			}
			if strings.HasPrefix(stack, "[]") {
				lost += n // taken after the record, before the thread left the kernel: perf takes the cookie for an address
			} else if ours[stack] < n {
				t.Errorf("%s: %d samples of %s, perf has %d", event, ours[stack], stack, n)
			}
		}
		if all != 0 || lost > 5 {
			t.Errorf("%s: perf has %d samples more, and %d without frames of the program", event, all, lost)
		}
	}
	if deep < 3 {
		t.Errorf("%d samples are deep:\n%s", deep, script)
	}
}

var (
	// scriptFrame is a line of perf script that has a frame of the kernel or of the program.
	scriptFrame = regexp.MustCompile(`(?m)^\s+(?:(ffff[0-9a-f]{12}) |[0-9a-f]+ (\S+) \(.*/deferred\)$)`)
	ofDeferred  = regexp.MustCompile(`^(_start|begin|wait|work|deeper|clear|spin|nap|call)$`)
)
