//go:build linux

package growth

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// Chain returns the command of a process that has n small shared libraries, with a frame of its
// stack in each. It makes the program and the libraries.
func Chain(d build.Dir, n int) ([]string, error) {
	chain, err := d.C("chain", append([]string{"-ldl"}, build.Walked...), "chain.c")
	if err != nil {
		return nil, err
	}
	paths, err := makeModules(d, n)
	return append([]string{chain}, paths...), err
}

// makeModules makes n shared libraries, which differ in their names and build IDs only, and returns
// their paths.
func makeModules(d build.Dir, n int) ([]string, error) {
	object, err := d.C("module.o", append([]string{"-c", "-fPIC"}, build.Walked...), "module.c")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(d.Path, "modules")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	paths := make([]string, n)
	for i := range paths {
		paths[i] = filepath.Join(dir, fmt.Sprintf("m%d.so", i))
	}
	work := make(chan string)
	errs := make(chan error, runtime.NumCPU())
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			for path := range work {
				link := exec.Command("ld", "-shared", "--eh-frame-hdr", "--build-id=sha1", "-soname", filepath.Base(path), "-o", path, object)
				if out, err := link.CombinedOutput(); err != nil {
					select {
					case errs <- fmt.Errorf("%v: %w\n%s", link.Args, err, out):
					default: // the libraries before show it well enough
					}
				}
			}
		})
	}
	for _, path := range paths {
		work <- path
	}
	close(work)
	wait.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return paths, nil
	}
}
