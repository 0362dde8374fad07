//go:build linux

// Command bench compares sfwalk with other stack walkers, side by side in one run, prints one table
// of the goals, and writes everything to docs/performance.md.
//
//	go run ./internal/bench [-only walk,lookup,attach,call,goroutines,plugin,minidump,growth,symbols,big,record,perf,against] [-against COMMIT] [-o FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/sfwalk/sfwalk/internal/bench/against"
	"github.com/sfwalk/sfwalk/internal/bench/attach"
	"github.com/sfwalk/sfwalk/internal/bench/big"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/growth"
	"github.com/sfwalk/sfwalk/internal/bench/lookup"
	"github.com/sfwalk/sfwalk/internal/bench/minidump"
	"github.com/sfwalk/sfwalk/internal/bench/plugin"
	"github.com/sfwalk/sfwalk/internal/bench/record"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/internal/bench/symbols"
	"github.com/sfwalk/sfwalk/internal/bench/walk"
)

// parts are the parts of the bench, in the order of the document.
var parts = []struct {
	name    string
	measure func(context.Context, build.Dir) (*report.Section, error)
}{
	{"walk", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return walk.Measure(ctx, d, walk.Options{})
	}},
	{"lookup", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return lookup.Measure(ctx, d, lookup.Options{Rounds: 11})
	}},
	{"attach", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return attach.Measure(ctx, d, attach.Options{})
	}},
	{"values", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return attach.MeasureValues(ctx, d, attach.Options{})
	}},
	{"call", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return attach.MeasureCalls(ctx, d, attach.Options{})
	}},
	{"goroutines", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return attach.MeasureGoroutines(ctx, d, attach.Options{})
	}},
	{"languages", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return attach.MeasureLanguages(ctx, d, attach.Options{})
	}},
	{"plugin", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return plugin.Measure(ctx, d, plugin.Options{})
	}},
	{"minidump", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return minidump.Measure(ctx, d, minidump.Options{})
	}},
	{"growth", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return growth.Measure(ctx, d, growth.Options{})
	}},
	{"symbols", symbols.Measure},
	{"big", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return big.Measure(ctx, d, big.Options{})
	}},
	{"record", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return record.Measure(ctx, d, record.Options{})
	}},
	{"perf", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return record.MeasureFile(ctx, d, record.FileOptions{})
	}},
	{"against", func(ctx context.Context, d build.Dir) (*report.Section, error) {
		return against.Measure(ctx, d, against.Options{Commit: *older})
	}},
}

var older = flag.String("against", "", "the `commit` that the part \"against\" compares with (default the last release)")

func main() {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	only := flag.String("only", strings.Join(names, ","), "the `parts` to measure")
	file := flag.String("o", "docs/performance.md", "the document to write the results to")
	flag.Parse()
	chosen := strings.Split(*only, ",")
	for _, c := range chosen {
		if !slices.Contains(names, c) {
			fmt.Fprintf(os.Stderr, "bench: no part %q; there are %s\n", c, strings.Join(names, ", "))
			os.Exit(2)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, chosen, *file); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen []string, file string) error {
	root, err := build.Root()
	if err != nil {
		return err
	}
	d, err := build.NewDir(root + "/.cache/bench")
	if err != nil {
		return err
	}
	var sections []*report.Section
	var failed error // if a part fails, the others' results are kept
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) || ctx.Err() != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", p.name)
		s, err := p.measure(ctx, d)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
			continue
		}
		sections = append(sections, s)
	}
	fmt.Print(report.Goals(sections))
	return errors.Join(failed, report.Update(file, report.Machine(), sections))
}
