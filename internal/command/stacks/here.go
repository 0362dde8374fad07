package stacks

import (
	"fmt"
	"os"
	"regexp"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/kinds"
)

// coreNames are the names that the kernel gives core files in a process's folder: "core", as
// kernel.core_pattern is by default, "core.4242", and with a program's name, as many set it. The
// names need no quotes in a shell.
var coreNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^core([.-][A-Za-z0-9._-]+)?$`) })

// coresHere says which core files the current folder has, the newest one if there are several, and
// how to open it; "" for none.
func coresHere() string {
	const most = 1 << 16
	dir, err := os.Open(".")
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(most)
	var newest os.FileInfo
	n := 0
	for _, name := range names {
		if !coreNames().MatchString(name) {
			continue
		}
		if k, ok := kinds.Of(name); !ok || k.Verb != "core" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		if n++; newest == nil || info.ModTime().After(newest.ModTime()) {
			newest = info
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("there is a file %s here: sfwalk core ./%[1]s", newest.Name())
	}
	return fmt.Sprintf("there are %d core files here, the newest one is %s: sfwalk core ./%[2]s", n, newest.Name())
}
