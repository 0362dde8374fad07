//go:build linux

// Package symbols measures how long symbol files take to make, and how much memory, against
// Breakpad's dump_syms.
package symbols

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/internal/test/breakpadpeer"
)

// rounds is how often each command is run. The order changes from round to round.
const rounds = 7

// subject is a program whose symbols are written.
type subject struct {
	name, path string
	dirs       []string // of debug files
}

// Measure compares `sfwalk symbols dump` with `dump_syms -d`.
func Measure(ctx context.Context, d build.Dir) (*report.Section, error) {
	s := &report.Section{
		Part: "symbols", Title: "Symbol files", Commands: []string{"go run ./internal/bench -only symbols"},
		Text: "Symbol files of Breakpad's, made of ELF files with DWARF: `sfwalk symbols dump FILE` against `dump_syms -d FILE` (Breakpad's, from the npm package\n" +
			"minidump). Medians of " + fmt.Sprint(rounds) + " runs, in turns. sfwalk reads units with all processors, and writes inlined calls that dump_syms leaves out.",
	}
	theirs, err := breakpadpeer.Tool("dump_syms")
	if err != nil {
		s.Goals = append(s.Goals, report.Goal{What: "make a symbol file", Peer: "dump_syms", Most: 0.5, Missing: err.Error()})
		return s, nil
	}
	ours, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	subjects, err := subjects(d)
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	table := report.Table{Head: []string{"file", "size", "sfwalk", "dump_syms", "sfwalk, memory", "dump_syms, memory"}}
	for i, x := range subjects {
		commands := [2][]string{
			append([]string{ours, "symbols", "dump", x.path}, x.dirs...),
			append([]string{theirs, "-d", x.path}, x.dirs...),
		}
		var wall [2][]time.Duration
		var peak [2][]int64
		for round := range rounds {
			for k := range commands {
				k = (k + round) % 2
				cost, err := run.Run(ctx, false, commands[k]...)
				if err != nil {
					return nil, err
				}
				if cost.Status != 0 {
					return nil, fmt.Errorf("%v: exit status %d", commands[k], cost.Status)
				}
				wall[k], peak[k] = append(wall[k], cost.Wall), append(peak[k], cost.Peak)
			}
		}
		info, err := os.Stat(x.path)
		if err != nil {
			return nil, err
		}
		times := [2]report.Value{report.Time(report.Median(wall[0])), report.Time(report.Median(wall[1]))}
		memory := [2]report.Value{report.Memory(report.Median(peak[0])), report.Memory(report.Median(peak[1]))}
		table.Add(x.name, report.Memory(info.Size()).String(), times[0].String(), times[1].String(), memory[0].String(), memory[1].String())
		if i == 0 { // the large one
			s.Goals = append(s.Goals,
				report.Goal{What: "symbol file of " + x.name + ", time", Peer: "dump_syms", Ours: times[0], Theirs: times[1], Most: 0.5},
				report.Goal{What: "symbol file of " + x.name + ", memory", Peer: "dump_syms", Ours: memory[0], Theirs: memory[1], Most: 0.5})
		}
	}
	s.Tables = append(s.Tables, table)
	s.Versions = append(build.Compilers(), "dump_syms of npm's minidump")
	return s, nil
}

// subjects returns a large program that is built here, and libc with its debug file if that is
// installed.
func subjects(d build.Dir) ([]subject, error) {
	large := filepath.Join(d.Path, "sfwalk-full")
	cmd := exec.Command("go", "build", "-ldflags=-compressdwarf=false", "-o", large, "./cmd/sfwalk-full")
	cmd.Dir, cmd.Env = d.Root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	list := []subject{{"sfwalk-full", large, nil}}
	const libc = "/lib/x86_64-linux-gnu/libc.so.6"
	im, file, err := elf.OpenFile(libc)
	if err != nil {
		return list, nil
	}
	defer file.Close()
	if !slices.ContainsFunc(im.ELF().Sections, func(s *elf.Section) bool { return s.Name == ".gnu_debuglink" }) || len(im.BuildID) <= 2 {
		return list, nil
	}
	dir := "/usr/lib/debug/.build-id/" + im.BuildID[:2]
	if _, err := os.Stat(filepath.Join(dir, im.BuildID[2:]+".debug")); err == nil {
		list = append(list, subject{"libc.so.6 with its debug file", libc, []string{dir}})
	}
	return list, nil
}
