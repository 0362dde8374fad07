//go:build linux

package against

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// git runs git in a folder, and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%v: %w: %s", cmd.Args, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// unreleased is the commit that stands for the last release while there is none.
const unreleased = "4f85978a"

// lastRelease returns the last tag or, without one, a commit; "" if neither is there.
func lastRelease(ctx context.Context, root string) string {
	if tag, err := git(ctx, root, "describe", "--tags", "--abbrev=0"); err == nil {
		return tag
	}
	if _, err := git(ctx, root, "rev-parse", "--verify", unreleased+"^{commit}"); err == nil {
		return unreleased
	}
	return ""
}

// older makes a clone of the project at a commit, and returns its folder for programs. The clone
// has the bench of today, whose programs use the libraries of that commit.
func older(ctx context.Context, d build.Dir, commit string) (build.Dir, error) {
	hash, err := git(ctx, d.Root, "rev-parse", "--verify", "--short=12", commit+"^{commit}")
	if err != nil {
		return build.Dir{}, err
	}
	const prefix = "against-"
	clone := filepath.Join(d.Path, prefix+hash)
	others, err := filepath.Glob(filepath.Join(d.Path, prefix+"*"))
	for _, other := range others {
		err = errors.Join(err, os.RemoveAll(other))
	}
	if err != nil {
		return build.Dir{}, err
	}
	if _, err := git(ctx, d.Root, "clone", "--quiet", "--shared", "--no-checkout", d.Root, clone); err != nil {
		return build.Dir{}, err
	}
	if _, err := git(ctx, clone, "checkout", "--quiet", "--detach", hash); err != nil {
		return build.Dir{}, err
	}
	bench := filepath.Join(clone, "internal", "bench")
	if err := os.RemoveAll(bench); err != nil {
		return build.Dir{}, err
	}
	if err := os.CopyFS(bench, os.DirFS(filepath.Join(d.Root, "internal", "bench"))); err != nil {
		return build.Dir{}, err
	}
	o := build.Dir{Root: clone, Path: filepath.Join(clone, "bin")}
	return o, os.MkdirAll(o.Path, 0o777)
}
