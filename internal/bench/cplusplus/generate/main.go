//go:build linux

// Command generate makes a large C++ program (package cplusplus), and prints its path.
//
//	go run ./internal/bench/cplusplus/generate [-units N] [-o FOLDER]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
)

func main() {
	units := flag.Int("units", 90, "of how many `units` the program is")
	dir := flag.String("o", ".cache/bench", "the `folder` for it")
	flag.Parse()
	path, err := cplusplus.Program(context.Background(), *dir, *units)
	if err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
