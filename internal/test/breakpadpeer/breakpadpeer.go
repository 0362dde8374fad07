// Package breakpadpeer fetches Breakpad's own tools and sources, for tests and benchmarks that
// compare with them. They come from the npm package minidump; nothing of it is part of this module.
package breakpadpeer

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/test/npm"
)

var minidump = npm.Package{Spec: "minidump@0.26.0", Sum: "0b09e132e39a5bf555324078a7f1fa2f3fe5c498f44bd80bf6fdfca92c1e2bbd", Keep: keep}

// Tool returns the path of minidump_stackwalk, minidump_dump or dump_syms. The error says why it
// cannot be had here; it wraps [npm.ErrSum] where the package is another one.
func Tool(name string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("npm's %s has no %s for %s/%s", minidump.Spec, name, runtime.GOOS, runtime.GOARCH)
	}
	dir, err := folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "bin", "linux-x64", name)
	_, err = os.Stat(file)
	return file, err
}

// Source returns the folder that has Breakpad's src, and third_party/lss, which its client needs.
func Source() (string, error) {
	dir, err := folder()
	return filepath.Join(dir, "deps", "breakpad"), err
}

// folder has the package's files. It is asked for once in a process: where there is no network, npm
// takes its time to say so.
var folder = sync.OnceValues(minidump.Folder)

// keep keeps the tools for Linux and Breakpad's sources. Those of the system calls,
// linux-syscall-support, are beside Breakpad in the package; its sources have them below
// third_party.
func keep(name string) (file string, mode os.FileMode) {
	if strings.HasPrefix(name, "bin/linux-x64/") {
		return name, 0o755
	}
	if lss, ok := strings.CutPrefix(name, "deps/third_party/lss/"); ok {
		return "deps/breakpad/third_party/lss/" + lss, 0o644
	}
	if strings.HasPrefix(name, "deps/breakpad/src/") {
		return name, 0o644
	}
	return "", 0
}
