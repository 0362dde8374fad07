// Package npm fetches packages from npm's registry, for tests and benchmarks. Nothing of them is
// part of this module.
package npm

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
	"strings"
)

// ErrSum is wrapped by the error of a package that is not the one that was asked for.
var ErrSum = errors.New("a package of npm's has another checksum")

// Package is a package of one version.
type Package struct {
	Spec string // "minidump@0.26.0"
	Sum  string // the SHA-256 of the package as the registry has it, hexadecimal
	// Keep returns the path and the permissions that a file of the package gets, "" if it is not
	// needed. The package's own path has no "package/" before it.
	Keep func(name string) (file string, mode os.FileMode)
}

// Folder returns the folder that has the package's files. They are fetched once, and stay in the
// user's cache. The error says why they cannot be had here: without npm or the network.
func (p *Package) Folder() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	base = filepath.Join(base, "sfwalk-test")
	dir := filepath.Join(base, "npm-"+p.Sum[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm is not installed, which fetches %s", p.Spec)
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	// Another process may fetch it, too: each into a folder of its own, then rename.
	tmp, err := os.MkdirTemp(base, "npm-part")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	var said bytes.Buffer
	c := exec.Command(npm, "pack", "--silent", "--fetch-retries=1", "--fetch-timeout=60000", p.Spec)
	c.Dir, c.Stderr = tmp, &said
	name, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("npm pack %s: %w\n%s", p.Spec, err, said.Bytes())
	}
	packed, err := os.ReadFile(filepath.Join(tmp, filepath.Base(strings.TrimSpace(string(name)))))
	if err != nil {
		return "", err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(packed)); got != p.Sum {
		return "", fmt.Errorf("%w: %s: %s", ErrSum, p.Spec, got)
	}
	if err := p.unpack(packed, filepath.Join(tmp, "made")); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "made"), dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, nil
}

func (p *Package) unpack(packed []byte, dir string) error {
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
		name, mode := p.Keep(strings.TrimPrefix(path.Clean("/"+h.Name), "/package/"))
		if name == "" || h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, mode)); err != nil {
			return err
		}
	}
}
