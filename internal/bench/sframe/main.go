//go:build linux

// Command sframe runs the look-ups of the bench alone (package lookup): package sframe against
// libsframe.
//
//	go run ./internal/bench/sframe [-file FILE] [-rounds N]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/lookup"
)

func main() {
	var o lookup.Options
	flag.StringVar(&o.File, "file", "", "the ELF `file` whose functions make the sections (default this machine's gdb)")
	flag.IntVar(&o.Rounds, "rounds", 25, "how often each is timed")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintf(os.Stderr, "internal/bench/sframe: %v\n", err)
		os.Exit(1)
	}
}

func run(o lookup.Options) error {
	dir, err := os.MkdirTemp("", "bench-sframe-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d, err := build.NewDir(dir)
	if err != nil {
		return err
	}
	s, err := lookup.Measure(context.Background(), d, o)
	if err != nil {
		return err
	}
	fmt.Println(s.Text)
	for _, t := range s.Tables {
		fmt.Println()
		fmt.Print(t.String())
	}
	if s.After != "" {
		fmt.Println("\n" + s.After)
	}
	return nil
}
