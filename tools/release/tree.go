package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/tools/internal/platforms"
)

// programs are what is built, and variable is where the linker puts the version.
var (
	programs = []string{"./cmd/sfwalk", "./cmd/sfwalk-full", "./cmd/sniffer-perfmap"}
	readers  = programs[:2] // sniffer-perfmap is of live processes
)

const variable = "github.com/sfwalk/sfwalk/internal/command/version.version"

// tree is a platform's files, as they lie below /usr: bin and share.
type tree struct {
	system, processor string
	dir               string
	programs          []string // relative to dir
}

func (t tree) live() bool { return slices.Contains(platforms.Live, t.system+"/"+t.processor) }

// tree builds a platform's programs, beside what all platforms share.
func (r *release) tree(ctx context.Context, platform, shared string) (t tree, err error) {
	var ok bool
	if t.system, t.processor, ok = strings.Cut(platform, "/"); !ok {
		return t, fmt.Errorf("%q is no platform: want such as linux/amd64", platform)
	}
	t.dir = filepath.Join(r.work, t.system+"-"+t.processor)
	if err := os.CopyFS(t.dir, os.DirFS(shared)); err != nil {
		return t, err
	}
	build := programs
	if !t.live() {
		build = readers
	}
	bin := filepath.Join(t.dir, "bin")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X " + variable + "=" + r.version.Program, "-o", bin + "/"}, build...)
	if err := r.run(ctx, environment(t.system, t.processor), nil, "go", args...); err != nil {
		return t, err
	}
	entries, err := os.ReadDir(bin)
	if err != nil {
		return t, err
	}
	for _, e := range entries {
		t.programs = append(t.programs, "bin/"+e.Name())
	}
	if len(t.programs) != len(build) {
		return t, fmt.Errorf("%d programs were built, want %d", len(t.programs), len(build))
	}
	return t, r.settle(t.dir)
}

// environment is the environment of a build: nothing that the user has set decides about the bytes.
func environment(system, processor string) []string {
	var list []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOFIPS140", "GOWORK", "GOOS", "GOARCH", "CGO_ENABLED", "GOENV":
		default:
			list = append(list, v)
		}
	}
	return append(list, "GOENV=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
}

// run runs a program in the folder of the sources.
func (r *release) run(ctx context.Context, env []string, out *bytes.Buffer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.source, env, os.Stderr, os.Stderr
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// completions are the shells' scripts, where the shells look for scripts of packages.
var completions = map[string]string{
	"bash":       "share/bash-completion/completions/sfwalk",
	"zsh":        "share/zsh/vendor-completions/_sfwalk",
	"fish":       "share/fish/vendor_completions.d/sfwalk.fish",
	"powershell": "share/powershell/sfwalk.ps1",
}

// documents are the texts that come with every program.
var documents = []string{"README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "NOTICE"}

// share puts together what all platforms share: texts, pages of the manual, completions.
func (r *release) share(ctx context.Context, dir string) error {
	host := environment(runtime.GOOS, runtime.GOARCH)
	program := filepath.Join(r.work, "host", "sfwalk")
	if err := r.run(ctx, host, nil, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X "+variable+"="+r.version.Program, "-o", program, programs[0]); err != nil {
		return err
	}
	for shell, name := range completions {
		var script bytes.Buffer
		if err := r.run(ctx, host, &script, program, "completion", shell); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, name), script.Bytes()); err != nil {
			return err
		}
	}
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(r.source, name))
		if err == nil {
			err = write(filepath.Join(dir, "share/doc/sfwalk", name), text)
		}
		if err != nil {
			return err
		}
	}
	pages, err := fs.Glob(os.DirFS(r.source), "docs/*.md")
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no pages in docs: %v", err)
	}
	pictures, err := fs.Glob(os.DirFS(r.source), "docs/*.svg")
	if err != nil {
		return err
	}
	for _, page := range append(pages, pictures...) {
		text, err := os.ReadFile(filepath.Join(r.source, page))
		if err == nil {
			err = write(filepath.Join(dir, "share/doc/sfwalk", page), text)
		}
		if err != nil {
			return err
		}
	}
	return r.manual(ctx, dir)
}

// pack compresses a text as Debian wants its manual: gzip, the best, without a name and a time.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// settle gives all files below a folder the release's time, and modes that no umask has decided.
func (r *release) settle(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() || filepath.Base(filepath.Dir(path)) == "bin" {
			mode = 0o755
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return os.Chtimes(path, r.time, r.time)
	})
}
