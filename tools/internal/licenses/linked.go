// Package licenses finds the modules that programs are linked from, and their licences.
package licenses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Std is the path that the standard library and the run time have as a module, as in package URLs.
const Std = "std"

// Module is a module of which packages are linked.
type Module struct {
	Path, Version string // Version is empty for Std, of which Go's release decides
	SPDX          string // an expression of SPDX identifiers
	Texts         []Text
}

// Text is one file of a licence, a notice or a grant of patents.
type Text struct {
	File string // relative to the module
	Text string
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// Linked returns the modules of which packages are linked into programs, sorted by path; the main
// module is not among them. The programs are packages of the module in dir. platforms are such as
// "linux/amd64".
func Linked(ctx context.Context, dir string, platforms []string, programs ...string) ([]Module, error) {
	packages := map[string]listed{}
	for _, p := range platforms {
		if err := list(ctx, dir, p, programs, packages); err != nil {
			return nil, fmt.Errorf("list what is linked on %s: %w", p, err)
		}
	}
	root, err := goroot(ctx, dir)
	if err != nil {
		return nil, err
	}
	roots, folders, versions := map[string]string{}, map[string]map[string]bool{}, map[string]string{}
	for _, p := range packages {
		path, version, top, folder := Std, "", root, root
		switch {
		case p.Standard: // one licence, at the root
		case p.Module == nil:
			return nil, fmt.Errorf("package %s is of no module", p.ImportPath)
		case p.Module.Main:
			continue
		default:
			path, version, top, folder = p.Module.Path, p.Module.Version, p.Module.Dir, p.Dir
		}
		if folders[path] == nil {
			folders[path] = map[string]bool{}
		}
		roots[path], versions[path] = top, version
		for ; strings.HasPrefix(folder, top); folder = filepath.Dir(folder) { // a licence covers what is below it
			folders[path][folder] = true
		}
	}
	var modules []Module
	for _, path := range slices.Sorted(maps.Keys(roots)) {
		m := Module{Path: path, Version: versions[path]}
		if m.Texts, err = texts(roots[path], slices.Sorted(maps.Keys(folders[path]))); err == nil {
			m.SPDX, err = identify(m.Texts)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", path, m.Version, err)
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// list adds the packages that programs are linked from on a platform.
func list(ctx context.Context, dir, platform string, programs []string, packages map[string]listed) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform: want such as linux/amd64", platform)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard,Module"}, programs...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOWORK=off")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	for d := json.NewDecoder(out); ; {
		var p listed
		if err = d.Decode(&p); err != nil {
			break
		}
		packages[p.ImportPath] = p
	}
	if ended := cmd.Wait(); !errors.Is(err, io.EOF) || ended != nil {
		return errors.Join(err, ended)
	}
	return nil
}

func goroot(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// texts returns the legal files that lie in folders below root.
func texts(root string, folders []string) (list []Text, err error) {
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !legal.MatchString(e.Name()) || !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			file := filepath.Join(folder, e.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			list = append(list, Text{File: filepath.ToSlash(name), Text: normal(string(text))})
		}
	}
	return list, nil
}

// normal ends each line without blanks, and the text with one line feed.
func normal(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}
