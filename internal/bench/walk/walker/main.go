//go:build linux

// Command walker walks a capture of package walk, and says what a frame takes, as often as it is
// asked to.
//
//	walker FILE
package main

import (
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/bench/walk"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: walker FILE")
		os.Exit(2)
	}
	if err := walk.Answer(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "walker: %v\n", err)
		os.Exit(1)
	}
}
