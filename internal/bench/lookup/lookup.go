//go:build linux

package lookup

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/peer"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	File   string // its functions make the sections; "" for this machine's gdb, or C library
	Rounds int    // 0 for 25
}

// sizes are the numbers of functions.
var sizes = []int{2600, 100000}

// The largest ratios that meet the goals.
const (
	mostFind = 0.33
	mostOpen = 0.01 // of the larger section
)

// Measure looks up and opens with sframe and libsframe. Without libsframe, it measures sframe
// alone.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 25
	}
	if o.File == "" {
		file, err := defaultFile()
		if err != nil {
			return nil, err
		}
		o.File = file
	}
	c, err := functionsOf(o.File)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "lookup", Title: "A look-up in SFrame",
		Commands: []string{"go run ./internal/bench -only lookup"},
		Text:     fmt.Sprintf(text, o.File, len(c.Functions), o.Rounds),
	}
	programs, version, err := buildPeers(d)
	missing := ""
	if errors.Is(err, build.ErrMissing) {
		missing = err.Error()
	} else if err != nil {
		return nil, err
	} else {
		s.Versions = append(s.Versions, version)
	}
	table := report.Table{Head: []string{"FDEs", "what", "sfwalk", "libsframe.so", "ratio", "libsframe.a", "ratio"}}
	for _, n := range sizes {
		section, err := sectionOf(c, n)
		if err != nil {
			return nil, err
		}
		pcs, err := randomPCs(section, 1<<20)
		if err != nil {
			return nil, err
		}
		var peers []*peer.Peer
		for _, program := range programs {
			p, err := startPeer(program, d.Path, section, pcs)
			if err != nil {
				return nil, err
			}
			defer p.Stop()
			peers = append(peers, p)
		}
		for _, what := range measures(section, pcs) {
			if err := what.compare(ctx, peers, o.Rounds); err != nil {
				return nil, err
			}
			table.Add(what.row(n)...)
			if what.most > 0 && n == sizes[len(sizes)-1] || what.most == mostFind {
				s.Goals = append(s.Goals, what.goal(n, missing))
			}
		}
	}
	s.Tables = []report.Table{table}
	return s, nil
}

const text = `Looking random PCs up, and opening, in this project's package sframe and in binutils'
libsframe, one after the other in each round, on the same sections of SFrame V3: 2,600
and 100,000 functions with the rows of a real program, %s (%d functions: every k-th of
them for the smaller section, all several times for the larger one). Medians of %d rounds
of a million look-ups.

Both of libsframe's libraries in Debian's packages are timed: libsframe.so.3, which
programs link, and libsframe.a, which is the same code without calls that another library
may replace.`

// defaultFile is a program with many functions that is on this machine.
func defaultFile() (string, error) {
	if gdb, err := exec.LookPath("gdb"); err == nil {
		return gdb, nil
	}
	out, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	return strings.TrimSpace(string(out)), err
}

// A measure is one operation that both have.
type measure struct {
	name    string
	command byte // of the peers
	most    float64
	ours    func() (float64, error)

	sfwalk float64
	theirs []float64
}

func measures(s *sframe.Section, pcs []uint64) []*measure {
	return []*measure{
		{name: "look-up", command: 'f', most: mostFind, ours: func() (float64, error) { return timeFind(s, pcs) }},
		{name: "open", command: 'd', most: mostOpen, ours: func() (float64, error) { return timeOpen(s) }},
	}
}

// compare lets sframe and the peers take turns.
func (m *measure) compare(ctx context.Context, peers []*peer.Peer, rounds int) error {
	var ours []float64
	theirs := make([][]float64, len(peers))
	for range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := m.ours()
		if err != nil {
			return err
		}
		ours = append(ours, t)
		for i, p := range peers {
			if t, err = p.Time(m.command); err != nil {
				return err
			}
			theirs[i] = append(theirs[i], t)
		}
	}
	m.sfwalk = report.Median(ours)
	for _, times := range theirs {
		m.theirs = append(m.theirs, report.Median(times))
	}
	return nil
}

func nanoseconds(n float64) report.Value { return report.Value{Number: n, Unit: report.Nanoseconds} }

func (m *measure) row(n int) []string {
	row := []string{fmt.Sprint(n), m.name, nanoseconds(m.sfwalk).String(), "", "", "", ""}
	for i, t := range m.theirs {
		row[3+2*i], row[4+2*i] = nanoseconds(t).String(), fmt.Sprintf("%.4f", m.sfwalk/t)
	}
	return row
}

func (m *measure) goal(n int, missing string) report.Goal {
	g := report.Goal{What: fmt.Sprintf("%s, %d functions", m.name, n), Peer: "libsframe.so", Most: m.most, Missing: missing}
	if missing != "" {
		return g
	}
	g.Ours, g.Theirs = nanoseconds(m.sfwalk), nanoseconds(m.theirs[0])
	return g
}

// timeFind looks every PC up, and returns the nanoseconds of one look-up.
func timeFind(s *sframe.Section, pcs []uint64) (float64, error) {
	start := time.Now()
	for _, pc := range pcs {
		if _, err := s.Find(pc); err != nil && !errors.Is(err, sframe.ErrNoRow) {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / float64(len(pcs)), nil
}

// timeOpen opens the section a thousand times, and returns the nanoseconds of one opening.
func timeOpen(s *sframe.Section) (float64, error) {
	const times = 1000
	start := time.Now()
	for range times {
		if _, err := sframe.Open(s.Data, s.Addr); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / times, nil
}
