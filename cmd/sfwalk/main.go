// Command sfwalk prints the stacks of a process: every thread's, right and
// fast, with the process stopped for a moment only.
package main

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/command"
)

// Without a host of plug-ins and without Delve, for the sake of its start: where they are
// asked for, it becomes sfwalk-full.
func main() { os.Exit(command.Main(os.Args[1:], nil, nil)) }
