// Package breakpadpeer fetches Breakpad's own tools and sources, for tests and benchmarks that
// compare with them. They come from the npm package minidump; nothing of it is part of this module.
package breakpadpeer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

const (
	spec = "minidump@0.26.0"
	// sum is the SHA-256 of the package as the registry has it.
	sum = "0b09e132e39a5bf555324078a7f1fa2f3fe5c498f44bd80bf6fdfca92c1e2bbd"
)

// ErrSum is the error of a package that is not the one that was asked for.
var ErrSum = errors.New("npm's " + spec + " has another checksum")

// Tool returns the path of minidump_stackwalk, minidump_dump or dump_syms. The error says why it
// cannot be had here.
func Tool(name string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("npm's %s has no %s for %s/%s", spec, name, runtime.GOOS, runtime.GOARCH)
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
var folder = sync.OnceValues(func() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	base = filepath.Join(base, "sfwalk-test")
	dir := filepath.Join(base, "breakpad-client-"+sum[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed, which fetches Breakpad's tools")
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	// Another process may fetch it, too: each into a folder of its own, then rename.
	tmp, err := os.MkdirTemp(base, "breakpad-part")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	var said bytes.Buffer
	c := exec.Command(npm, "pack", "--silent", "--fetch-retries=1", "--fetch-timeout=60000", spec)
	c.Dir, c.Stderr = tmp, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("npm pack %s: %w\n%s", spec, err, said.Bytes())
	}
	packed, err := os.ReadFile(filepath.Join(tmp, strings.Replace(spec, "@", "-", 1)+".tgz"))
	if err != nil {
		return "", err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(packed)); got != sum {
		return "", fmt.Errorf("%w: %s", ErrSum, got)
	}
	if err := unpack(packed, filepath.Join(tmp, "made")); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "made"), dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, nil
})

// unpack writes the tools for Linux and Breakpad's sources. Those of the system calls,
// linux-syscall-support, are beside Breakpad in the package; its sources have them below
// third_party.
func unpack(packed []byte, dir string) error {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/package/")
		tool := strings.HasPrefix(name, "bin/linux-x64/")
		if lss, ok := strings.CutPrefix(name, "deps/third_party/lss/"); ok {
			name = "deps/breakpad/third_party/lss/" + lss
		} else if !tool && !strings.HasPrefix(name, "deps/breakpad/src/") {
			continue
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		file, mode := filepath.Join(dir, filepath.FromSlash(name)), os.FileMode(0o644)
		if tool {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, mode)); err != nil {
			return err
		}
	}
}
