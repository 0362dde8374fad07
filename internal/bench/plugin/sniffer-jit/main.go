// Command sniffer-jit is the plug-in that is measured: a sniffer for the machine code of
// internal/bench/programs/jit.c. Its name says how it answers, because a host passes no arguments.
package main

import (
	"os"
	"strings"

	"github.com/sfwalk/sfwalk/internal/test/plugintest/jit"
	"github.com/sfwalk/sfwalk/plugin"
)

func main() {
	has := func(word string) bool { return strings.HasSuffix(os.Args[0], "-"+word) }
	plugin.Serve(jit.Sniffer{Ahead: has("ahead"), Once: has("once"), Read: has("read")})
}
