//go:build linux

package big

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
	"github.com/sfwalk/sfwalk/internal/bench/llvm"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Units of the C++ programs. All debug information of the larger one is more than package symbol
// keeps.
const (
	someUnits = 90
	manyUnits = 160
)

const symbolizer = "llvm-symbolizer"

var namesOfProfile = subject{
	goals: []report.Goal{
		{What: "names of a profile, 90 units: CPU", Peer: symbolizer, Most: 0.5},
		{What: "names of a profile, 90 units: the same calls, names and lines", Peer: symbolizer, Least: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		return b.namesOfProgram(ctx, someUnits, goals, cplusplus.Profile, b.count(4400, 100))
	},
}

var namesOfCompressed = subject{
	goals: []report.Goal{
		{What: "names of a profile, 160 units, compressed: CPU", Peer: symbolizer, Most: 1},
		{What: "names of a profile, 160 units, compressed: the same calls, names and lines", Peer: symbolizer, Least: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		units := b.count(manyUnits, 2)
		path, err := cplusplus.Compressed(ctx, b.dir.Path, units)
		if err != nil {
			return err
		}
		return b.namesOf(ctx, path, fmt.Sprintf("C++, %d units, compressed", units), goals, cplusplus.Profile, b.count(4400, 100))
	},
}

var namesOfMore = subject{
	goals: []report.Goal{
		{What: "names of a profile, 160 units: CPU", Peer: symbolizer, Most: 0.5},
		{What: "names of a profile, 160 units: the same calls, names and lines", Peer: symbolizer, Least: 1},
		{What: "names of 100000 addresses, 160 units: CPU", Peer: symbolizer, Most: 0.7},
		{What: "names of 100000 addresses, 160 units: the same calls, names and lines", Peer: symbolizer, Least: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		if err := b.namesOfProgram(ctx, manyUnits, goals, cplusplus.Profile, b.count(4400, 100)); err != nil {
			return err
		}
		return b.namesOfProgram(ctx, manyUnits, goals[2:], cplusplus.Random, b.count(100_000, 200))
	},
}

// kernels are the images of Debian's kernels with their debug information, by the packages
// linux-image-*-dbg.
const kernels = "/usr/lib/debug/boot/vmlinux-*"

var kernelNames = subject{
	goals: []report.Goal{
		{What: "names of 2000 addresses of a kernel: CPU", Peer: symbolizer, Most: 0.7},
		{What: "names of 2000 addresses of a kernel: the same calls, names and lines", Peer: symbolizer, Least: 1},
		{What: "names of 100000 addresses of a kernel: CPU", Peer: symbolizer, Most: 0.5},
		{What: "names of 100000 addresses of a kernel: the same calls, names and lines", Peer: symbolizer, Least: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		list, err := filepath.Glob(kernels)
		if err != nil || len(list) == 0 {
			return fmt.Errorf("%w: no %s", build.ErrMissing, kernels)
		}
		kernel := slices.Max(list)
		if err := b.namesOf(ctx, kernel, "a kernel", goals, cplusplus.Profile, b.count(2000, 100)); err != nil {
			return err
		}
		return b.namesOf(ctx, kernel, "a kernel", goals[2:], cplusplus.Random, b.count(100_000, 200))
	},
}

func (b *bench) namesOfProgram(ctx context.Context, units int, goals []report.Goal, choose func(string, int) ([]uint64, error), n int) error {
	if b.small {
		units = 2
	}
	path, err := cplusplus.Program(ctx, b.dir.Path, units)
	if err != nil {
		return err
	}
	return b.namesOf(ctx, path, fmt.Sprintf("C++, %d units", units), goals, choose, n)
}

var namesHead = []string{"addresses", "lines: llvm-symbolizer", "sfwalk", "addresses without a line", "with other inlined calls", "another function", "another line"}

// namesOf compares the names of n addresses of a file, and fills in two goals: for the CPU time,
// and for the answers.
func (b *bench) namesOf(ctx context.Context, path, what string, goals []report.Goal, choose func(string, int) ([]uint64, error), n int) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	addresses, err := choose(path, n)
	if err != nil {
		return err
	}
	r, err := compareNames(ctx, b.dir, &b.Meter, path, path, addresses)
	if err != nil {
		return err
	}
	work := fmt.Sprintf("names of %d addresses: %s, %v", n, what, report.Memory(info.Size()))
	b.row(work, "package symbol", r.Ours, fmt.Sprintf("%d lines", r.OurLines))
	b.row(work, symbolizer, r.Theirs, fmt.Sprintf("%d lines", r.TheirLines))
	processor(&goals[0], r.Ours, r.Theirs)
	goals[1].Ours, goals[1].Theirs = report.Count(r.Differences.Addresses-r.Differences.All()), report.Count(r.Differences.Addresses)
	row := []string{fmt.Sprintf("%d: %s", n, what)}
	for _, n := range []int{r.TheirLines, r.OurLines, r.Differences.None, r.Differences.Chain, r.Differences.Name, r.Differences.File} {
		row = append(row, fmt.Sprint(n))
	}
	b.names.Add(row...)
	b.peers = append(b.peers, r.Version)
	return nil
}

// Names is what package symbol (internal/bench/namer) and llvm-symbolizer take for the same
// addresses of a file, and in what their answers differ.
type Names struct {
	Ours, Theirs           command.Cost
	OurLines, TheirLines   int // frames that have one
	Differences            llvm.Differences
	Addresses              []uint64
	OurFrames, TheirFrames [][]llvm.Frame
	Warnings               []string // of package symbol
	Version                string   // of llvm-symbolizer
}

// CompareNames asks both for the names of addresses of a file, several rounds in turns. The file
// debug has its DWARF; it is the same file, if that is not stripped.
func CompareNames(ctx context.Context, d build.Dir, rounds int, path, debug string, addresses []uint64) (*Names, error) {
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	m := newMeter(run, rounds)
	return compareNames(ctx, d, &m, path, debug, addresses)
}

func compareNames(ctx context.Context, d build.Dir, m *contest.Meter, path, debug string, addresses []uint64) (*Names, error) {
	program, err := llvm.Program()
	if err != nil {
		return nil, err
	}
	namer, err := d.Go("namer", "./internal/bench/namer")
	if err != nil {
		return nil, err
	}
	var questions bytes.Buffer
	if err := llvm.WriteAddresses(&questions, addresses); err != nil {
		return nil, err
	}
	in := filepath.Join(d.Path, "addresses")
	if err := os.WriteFile(in, questions.Bytes(), 0o666); err != nil {
		return nil, err
	}
	n := &Names{Addresses: addresses, Version: llvm.Version(program)}
	costs, err := m.Costs(ctx, []contest.Contestant{
		{Name: "namer", Args: []string{namer, path}, In: in},
		{Name: symbolizer, Args: append([]string{program}, llvm.Args(path)...), In: in},
	}, func(i int) error {
		if i > 0 {
			return nil // the answers to be compared have other names
		}
		out, err := os.ReadFile(m.Run.Out)
		if err != nil {
			return err
		}
		answers, warnings := cutWarnings(out)
		n.Warnings = warnings
		n.OurFrames, err = llvm.Parse(answers)
		if err == nil && len(n.OurFrames) != len(addresses) {
			err = fmt.Errorf("%d answers to %d questions", len(n.OurFrames), len(addresses))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	n.Ours, n.Theirs = costs[0], costs[1]
	if n.TheirFrames, err = llvm.Ask(ctx, program, llvm.Short(path), addresses); err != nil {
		return nil, err
	}
	rows, err := llvm.ReadRows(debug)
	if err != nil {
		return nil, err
	}
	n.OurLines, n.TheirLines = llvm.Lines(n.OurFrames), llvm.Lines(n.TheirFrames)
	n.Differences = llvm.Compare(n.OurFrames, n.TheirFrames, func(i int, f llvm.Frame) bool { return rows.Has(addresses[i], f) })
	return n, nil
}

// cutWarnings splits the namer's output, which has both streams in it.
func cutWarnings(out []byte) (answers io.Reader, warnings []string) {
	var rest strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "namer: ") {
			warnings = append(warnings, strings.TrimSpace(line))
		} else {
			rest.WriteString(line)
		}
	}
	return strings.NewReader(rest.String()), warnings
}
