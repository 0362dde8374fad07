//go:build linux

package attach

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Programs of units that are all alike: the stack is in the first few. A unit has almost a megabyte
// of debug information.
const (
	fewUnits  = 6
	manyUnits = 600
	inUnits   = 5 // that have frames

	unitsWall = 1.5 // of the wall time on the program of few units
)

// measureUnits compares printing all values in a program with little debug information and in one
// with a hundred times as much. Only the units that the frames are in are to be read.
func measureUnits(ctx context.Context, d build.Dir, run *command.Runner, o Options, locals tool) (*report.Table, []report.Goal, error) {
	many := manyUnits
	if o.Small {
		many = 2 * fewUnits
	}
	programs, err := buildUnits(d, fewUnits, many)
	if err != nil {
		return nil, nil, err
	}
	t := &report.Table{Caption: "**One stack, in programs with little and with much debug information**", Head: []string{"program", "frames", "wall", "CPU", "peak memory"}}
	var walls []report.Value
	for _, path := range programs {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		m := &meter{run: run, dir: d.Path, rounds: o.rounds()}
		samples, err := m.cost(ctx, scenario{name: filepath.Base(path), program: path}, []tool{locals})
		if err != nil {
			return nil, nil, err
		}
		row := samples[0].row()
		t.Add(append([]string{report.Memory(info.Size()).String()}, row[1:5]...)...)
		walls = append(walls, report.Time(report.Median(samples[0].wall)))
	}
	return t, []report.Goal{{What: "a hundred times the debug information: wall", Peer: "the small program", Most: unitsWall, Ours: walls[1], Theirs: walls[0]}}, nil
}

// buildUnits links programs of so many units each.
func buildUnits(d build.Dir, counts ...int) (programs []string, err error) {
	dir := filepath.Join(d.Path, "units")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	run := func(program string, args ...string) error {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "unit.c"), []byte(unitSource()), 0o666); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(unitsMain), 0o666); err != nil {
		return nil, err
	}
	if err := run("gcc", "-O1", "-g", "-c", "unit.c", "main.c"); err != nil {
		return nil, err
	}
	most := slices.Max(counts)
	// To copy an object and to name its functions anew is faster than to compile it again.
	for i := range most {
		next := fmt.Sprintf("unit%d", i+1)
		if i+1 == inUnits {
			next = "bottom"
		}
		err := run("objcopy", "--redefine-sym", fmt.Sprintf("unit=unit%d", i), "--redefine-sym", "next="+next,
			"--redefine-sym", fmt.Sprintf("offsets=offsets%d", i), "unit.o", fmt.Sprintf("unit%d.o", i))
		if err != nil {
			return nil, err
		}
	}
	for _, n := range counts {
		args := []string{"-o", fmt.Sprintf("units%d", n), fmt.Sprintf("-Wl,--defsym=unit%d=unit0", n), "main.o"}
		for i := range n {
			args = append(args, fmt.Sprintf("unit%d.o", i))
		}
		if err := run("gcc", args...); err != nil {
			return nil, err
		}
		programs = append(programs, filepath.Join(dir, fmt.Sprintf("units%d", n)))
	}
	return programs, nil
}

const unitsMain = `#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

extern int unit0 (int);

int
bottom (int n)
{
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
  return n;
}

int
main (void)
{
  prctl (PR_SET_PTRACER, -1, 0, 0, 0);
  return unit0 (5);
}
`

// unitSource returns a unit of some thousand types, all of which its functions use.
func unitSource() string {
	const types = 5200
	var b strings.Builder
	b.WriteString("extern int next (int);\n")
	for i := range types {
		fmt.Fprintf(&b, "struct s%d { int a%d; long b%d; struct s%d *p; char c[%d]; double d; unsigned e; short f, g; void (*h) (int, long); union { int i; float k; } u; };\n",
			i, i, i, max(0, i-1), i%31+1)
	}
	fmt.Fprintf(&b, "int unit (int n) { struct s%d x; struct s%d *y = 0; volatile int k = n; x.d = n; int r = next (n - 1) + k; return r + (int) x.d + (y != 0); }\n", types-1, types/2)
	b.WriteString("long offsets (void) { return 0")
	for i := range types {
		fmt.Fprintf(&b, "\n+ (long) ((struct s%d *) 0)->c", i)
	}
	b.WriteString("; }\n")
	return b.String()
}
