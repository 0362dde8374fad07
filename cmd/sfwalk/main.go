// Command sfwalk prints the stack of every thread of a process, which it stops for a moment only.
package main

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/command"
	_ "github.com/sfwalk/sfwalk/internal/command/early"
)

// The program has no host of plug-ins and no Delve, so that it starts fast. It becomes sfwalk-full
// when they are needed.
func main() { os.Exit(command.Main(os.Args[1:], command.Hosts{})) }
