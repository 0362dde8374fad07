//go:build linux

package record

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/bench/command"
)

// outermost are the functions in which threads and programs begin.
var outermost = []string{"clone3", "__clone3", "clone", "__clone", "thread_start", "__thread_start", "_start"}

// once runs a command, which must succeed.
func (b *bench) once(args ...string) (command.Cost, error) {
	c, err := b.run.Run(b.ctx, false, args...)
	if err == nil && c.Status != 0 {
		err = fmt.Errorf("%v: status %d", args, c.Status)
	}
	return c, err
}

// quiet has what a command says about its work kept out of the bench's own words.
func quiet(file string, args ...string) []string {
	return append([]string{"sh", "-c", `f=$1; shift; exec "$@" 2>"$f"`, "sh", file}, args...)
}

// bySfwalk records the target.
func (b *bench) bySfwalk(t *target, x scenario) (c *cost, err error) {
	c = &cost{}
	out, said := b.path("sfwalk.pb.gz"), b.path("said")
	c.work, err = t.work(func() error {
		used, err := b.once(quiet(said, b.sfwalk, "record", strconv.Itoa(t.PID), "-d", b.o.Duration.String(), "-F", strconv.Itoa(x.frequency), "-o", out)...)
		c.cpu = used.CPU
		return err
	})
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	c.written = int64(len(raw))
	if c.lost, err = lostBySfwalk(said); err != nil {
		return nil, err
	}
	return c, c.readProfile(out)
}

// readProfile counts the stacks of a profile that sfwalk has written.
func (c *cost) readProfile(out string) error {
	raw, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	p, err := profile.Parse(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	for _, s := range p.Sample {
		c.samples += int(s.Value[0])
		if n := len(s.Location); n > 0 && slices.Contains(outermost, s.Location[n-1].Line[len(s.Location[n-1].Line)-1].Function.Name) {
			c.bottoms += int(s.Value[0])
		}
	}
	return nil
}

// lostBySfwalk returns how many samples the last line of record says were lost.
func lostBySfwalk(said string) (int, error) {
	text, err := os.ReadFile(said)
	if err != nil {
		return 0, err
	}
	if !strings.Contains(string(text), " samples of ") {
		return 0, fmt.Errorf("sfwalk says %q", text)
	}
	for part := range strings.SplitSeq(string(text), "; ") {
		if n, is := strings.CutSuffix(strings.TrimSpace(part), " were lost: the machine was too busy"); is {
			return strconv.Atoi(n)
		}
	}
	return 0, nil
}

// byPerf records the target, and unwinds the stacks.
func (b *bench) byPerf(t *target, x scenario) (c *cost, err error) {
	c = &cost{}
	out, said := b.path("perf.data"), b.path("said")
	c.work, err = t.work(func() error {
		used, err := b.once(quiet(said, b.perf, "record", "--call-graph", "dwarf", "-F", strconv.Itoa(x.frequency), "-p", strconv.Itoa(t.PID), "-o", out,
			"--", "sleep", fmt.Sprint(b.o.Duration.Seconds()))...)
		c.cpu = used.CPU
		return err
	})
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(out)
	if err != nil {
		return nil, err
	}
	c.written = st.Size()
	used, err := b.once(quiet(said, b.perf, "script", "-i", out, "--show-lost-events")...)
	if err != nil {
		return nil, err
	}
	c.cpu += used.CPU
	return c, c.readScript(b.run.Out)
}

// readScript counts the stacks in the output of perf script: a line for each sample, then the
// functions from inside to outside, then an empty line.
func (c *cost) readScript(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	last := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		switch fields := strings.Fields(line); {
		case strings.Contains(line, "PERF_RECORD_LOST"):
			c.lost++
		case len(fields) == 0:
			if last != "" {
				c.samples++
				name, _, _ := strings.Cut(last, "+")
				if slices.Contains(outermost, name) {
					c.bottoms++
				}
			}
			last = ""
		case line[0] == '\t' || line[0] == ' ' && len(fields) >= 2:
			last = fields[1] // "ADDRESS FUNCTION+OFFSET (FILE)"
		}
	}
	if c.samples == 0 {
		return fmt.Errorf("perf script prints no stacks")
	}
	return nil
}
