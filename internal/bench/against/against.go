//go:build linux

package against

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Commit string // to compare with; "" for the last release or, while there is none, a commit
	Small  bool   // small processes and programs, one round: for tests
}

// loss is the ratio above which something is lost.
const loss = 1.05

// Measure compares this build with an older one.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	s := &report.Section{
		Part: "against", Title: "Beside an older build", Versions: build.Compilers(),
		Commands: []string{"go run ./internal/bench -only against -against COMMIT"},
	}
	if o.Commit == "" {
		o.Commit = lastRelease(ctx, d.Root)
	}
	if o.Commit == "" {
		s.Text = "Not measured: there is no release, and no commit was named."
		s.Goals = []report.Goal{{What: "all works", Peer: "the last release", Most: loss, Missing: "there is none, and no commit was named"}}
		return s, nil
	}
	was, err := older(ctx, d, o.Commit)
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	b := &both{now: d, was: was, small: o.Small, older: o.Commit}
	b.Meter = contest.Meter{Run: run, Rounds: 11, Most: 201, Little: 10 * time.Second, Enough: time.Minute}
	if o.Small {
		b.Rounds, b.Most = 1, 1
	}
	s.Text = fmt.Sprintf(text, o.Commit, b.Rounds, b.Most)
	var lost []string
	for _, w := range works {
		pairs, err := b.compare(ctx, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		for _, p := range pairs {
			p.What, p.Peer, p.Most = w.name+": "+p.What, o.Commit, loss
			s.Goals = append(s.Goals, p)
			if p.Missing == "" && !p.Met() {
				lost = append(lost, fmt.Sprintf("%s (%.2f)", p.What, p.Ours.Number/p.Theirs.Number))
			}
		}
	}
	s.After = "Nothing that was measured has lost a twentieth."
	if len(lost) > 0 {
		s.After = "**Lost a twentieth or more:** " + strings.Join(lost, "; ") + "."
	}
	return s, nil
}

const text = `This build beside the build of %s, on works that take little. Both run in turns, %d times or more, and up to %d
times in ten seconds. The least of all counts: the first table of this page has it. A figure that is a twentieth worse is
measured once more, and is lost if it is so again.`
