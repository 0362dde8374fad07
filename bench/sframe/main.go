package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/sframe"
)

func main() {
	file := flag.String("file", "/usr/bin/gdb", "the ELF `file` whose functions make the sections")
	rounds := flag.Int("rounds", 25, "how often each is timed")
	flag.Parse()
	if err := run(*file, *rounds); err != nil {
		fmt.Fprintf(os.Stderr, "bench/sframe: %v\n", err)
		os.Exit(1)
	}
}

func run(file string, rounds int) error {
	c, err := functionsOf(file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-sframe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shared, err := buildPeer(dir, false)
	if err != nil {
		return err
	}
	static, err := buildPeer(dir, true)
	if err != nil {
		return err
	}
	fmt.Printf("functions of %s (%d), median of %d rounds\n\n", file, len(c.Functions), rounds)
	fmt.Println("| FDEs | what | sfwalk | libsframe.so | ratio | libsframe.a | ratio |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, n := range []int{2600, 100000} {
		s, err := sectionOf(c, n)
		if err != nil {
			return err
		}
		pcs, err := randomPCs(s, 1<<20)
		if err != nil {
			return err
		}
		var peers []*peer
		for _, program := range []string{shared, static} {
			p, err := startPeer(program, dir, s, pcs)
			if err != nil {
				return err
			}
			peers = append(peers, p)
		}
		if err := compareTimes(s, pcs, peers, rounds); err != nil {
			return err
		}
		for _, p := range peers {
			if err := p.stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareTimes prints a line for look-ups, and one for opening.
func compareTimes(s *sframe.Section, pcs []uint64, peers []*peer, rounds int) error {
	for _, what := range []struct {
		name    string
		command byte
		ours    func() (float64, error)
	}{
		{"look-up", 'f', func() (float64, error) { return timeFind(s, pcs) }},
		{"open", 'd', func() (float64, error) { return timeOpen(s) }},
	} {
		var ours []float64
		theirs := make([][]float64, len(peers))
		for range rounds {
			t, err := what.ours()
			if err != nil {
				return err
			}
			ours = append(ours, t)
			for i, p := range peers {
				if t, err = p.time(what.command); err != nil {
					return err
				}
				theirs[i] = append(theirs[i], t)
			}
		}
		us := median(ours)
		fmt.Printf("| %d | %s | %.1f ns |", s.NumFDEs, what.name, us)
		for _, times := range theirs {
			fmt.Printf(" %.1f ns | %.4f |", median(times), us/median(times))
		}
		fmt.Println()
	}
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// timeFind looks every PC up, and returns the nanoseconds of one look-up.
func timeFind(s *sframe.Section, pcs []uint64) (float64, error) {
	start := time.Now()
	for _, pc := range pcs {
		if _, err := s.Find(pc); err != nil && err != sframe.ErrNoRow {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / float64(len(pcs)), nil
}

// timeOpen opens the section a thousand times, and returns the nanoseconds of
// one time.
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
