//go:build linux

package contest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestCosts: contestants take turns in another order each round, the least counts, and what one has
// written is seen once.
func TestCosts(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := command.NewRunner(d)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(d.Path, "log")
	one := func(name, more string) Contestant {
		return Contestant{Name: name, Args: []string{"sh", "-c", `echo $0 >> "$1"; ` + more, name, log}}
	}
	slow := one("slow", `[ $(grep -c slow "$1") = 2 ] || sleep 0.2`) // but in the second round
	reads := one("reads", "cat; exit 3")
	reads.In = filepath.Join(d.Path, "in")
	reads.Fine = func(status int) bool { return status == 3 }
	if err := os.WriteFile(reads.In, []byte("what it reads"), 0o666); err != nil {
		t.Fatal(err)
	}
	var said []string
	m := Meter{Run: run, Rounds: 3, Enough: time.Hour}
	costs, err := m.Costs(t.Context(), []Contestant{slow, reads}, func(i int) error {
		out, err := os.ReadFile(run.Out)
		said = append(said, string(out))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(said, "|"); got != "|what it reads" {
		t.Errorf("seen: %q", got)
	}
	if costs[0].Wall >= 200*time.Millisecond || costs[0].Peak == 0 || costs[1].Peak == 0 {
		t.Errorf("costs %v", costs)
	}
	if out, err := os.ReadFile(log); err != nil || strings.Join(strings.Fields(string(out)), " ") != "slow reads reads slow slow reads" {
		t.Errorf("order %q, %v", out, err)
	}
	reads.Fine = nil
	if _, err := m.Costs(t.Context(), []Contestant{slow, reads}, nil); err == nil || !strings.Contains(err.Error(), "reads: exit status 3: what it reads") {
		t.Errorf("error %v", err)
	}
}

func TestMore(t *testing.T) {
	usual := Meter{Rounds: 5, Most: 50, Little: 3 * time.Second, Enough: time.Minute}
	for _, c := range []struct {
		m      Meter
		rounds int
		taken  time.Duration
		want   bool
	}{
		{usual, 0, 0, true},
		{usual, 4, 59 * time.Second, true},
		{usual, 4, time.Minute, false},
		{usual, 5, 4 * time.Second, false},
		{usual, 49, 2 * time.Second, true},
		{usual, 50, 2 * time.Second, false},
		{Meter{}, 0, 0, true},
		{Meter{}, 1, 0, false},
	} {
		if got := c.m.more(c.rounds, c.taken); got != c.want {
			t.Errorf("%+v, %d rounds, %v: %t", c.m, c.rounds, c.taken, got)
		}
	}
}
