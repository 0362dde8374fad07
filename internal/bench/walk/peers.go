//go:build linux

package walk

import (
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// peers are the programs that could be built; "" for a program that could not.
type peers struct {
	framehop, local, remote string
	versions                []string
	missing                 map[string]string // why there is none, by name
}

func findPeers(d build.Dir) *peers {
	p := &peers{missing: map[string]string{}}
	note := func(name, version string, err error) {
		if err != nil {
			// The first line has the reason; a compiler's output may be long.
			p.missing[name], _, _ = strings.Cut(err.Error(), "\n")
			return
		}
		p.versions = append(p.versions, version)
	}
	var err error
	var version string
	p.framehop, version, err = d.Framehop()
	note(framehop, version, err)
	p.local, p.remote, version, err = d.Libunwind()
	note(libunwind, version, err)
	return p
}
