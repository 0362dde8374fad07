//go:build linux && system

package systemtest

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// record has the guest's sfwalk record a program without frame pointers: its stacks are as in its
// source, and its functions have the shares that it keeps by its own clock.
func (g *Guest) record(t *testing.T) {
	exe := filepath.Join(g.Temp, "shares")
	cc := exec.Command(g.Triple+"-gcc", "-o", exe, "-O2", "-fomit-frame-pointer", "-pthread", filepath.Join(g.Source, "testdata", "progs", "shares.c"))
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g.Put(t, exe, exe)
	for _, c := range []struct {
		name, command string
		shares        bool
	}{
		{"command", "sfwalk record -F 100 -o /root/x.folded -- %s 2 12 3", true},
		{"system", "%s 2 12 3600 & sfwalk record --system -F 100 -d 4s -o /root/x.folded && kill $!", true},
		// Stops take so long here that few samples are left.
		{"wall", "%s 2 12 3600 & sfwalk record $! --wall -F 20 -d 15s -o /root/x.folded && kill $!", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := fmt.Sprintf(c.command, exe)
			said := g.Shell(t, patience, "("+command+") 2>&1 >/dev/null")
			counts, all, odd := map[string]float64{}, 0.0, 0.0
			stacks := g.Shell(t, patience, "cat /root/x.folded")
			for line := range strings.Lines(stacks) {
				line = strings.TrimSpace(line)
				space := strings.LastIndexByte(line, ' ')
				n, err := strconv.ParseFloat(line[space+1:], 64)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				m := computes.FindStringSubmatch(line[:space] + ";")
				if m == nil {
					continue
				}
				counts[m[2]] += n
				all += n
				if !strings.Contains(m[0], "run;") || strings.Count(m[0], "deeper;") != 13 {
					odd += n
				}
			}
			t.Logf("%v, %v of %v are not whole\n%s", counts, odd, all, said)
			m := regexp.MustCompile(`(?m)^(\d+) samples`).FindStringSubmatch(said)
			if m == nil {
				t.Fatalf("it says %q\n%s", said, stacks)
			}
			samples, err := strconv.ParseFloat(m[1], 64)
			least, functions := 30.0, 3
			if !c.shares {
				least, functions = 2, 1
			}
			if err != nil || samples < least || len(counts) < functions {
				t.Fatalf("too few samples: %s\n%s", said, stacks)
			}
			// Now and then s390x's kernel copies less of a stack than there is.
			if odd > all/20 {
				t.Errorf("%v of %v are not whole:\n%s", odd, all, stacks)
			}
			for name, want := range map[string]float64{"half": 0.5, "three_tenths": 0.3, "one_fifth": 0.2} {
				// Samples are taken about independently of where the program is: four standard
				// deviations. An emulated processor takes up to a millisecond from one look at the
				// clock to the next, which makes the shorter functions longer.
				if off := math.Abs(counts[name]/all - want); c.shares && off > 4*math.Sqrt(want*(1-want)/samples)+0.1 {
					t.Errorf("%s has %v of %v, want %v", name, counts[name], all, want)
				}
			}
		})
	}
}

// computes finds the calls of the program in a stack, outermost first.
var computes = regexp.MustCompile(`(run;)?(?:deeper;)+(half|three_tenths|one_fifth);`)
