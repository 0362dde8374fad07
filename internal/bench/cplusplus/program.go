//go:build linux

package cplusplus

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

//go:embed source/unit.cc
var unit []byte

//go:embed source/main.cc
var main []byte

// flags are the compiler's.
var flags = []string{"-std=c++17", "-O2", "-g", "-pthread"}

// codes are types for units to have in their own ones, in turn.
var codes = []string{"int", "long", "unsigned short", "unsigned long", "short", "unsigned char", "unsigned"}

// Program makes a program of so many units, unless it is there, and returns its path in a folder of
// dir. A unit takes three seconds of a processor's time, and all processors have some. The error
// wraps [build.ErrMissing] if there is no compiler.
func Program(ctx context.Context, dir string, units int) (string, error) {
	if units < 1 {
		return "", fmt.Errorf("a program of %d units", units)
	}
	dir, err := folder(dir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, fmt.Sprintf("program%d", units))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	objects, err := compileAll(ctx, dir, units)
	if err != nil {
		return "", err
	}
	var list strings.Builder
	for i := range units {
		fmt.Fprintf(&list, "UNIT (%d)\n", i)
	}
	work, err := os.MkdirTemp(dir, "link")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for name, text := range map[string][]byte{"main.cc": main, "units.h": []byte(list.String())} {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o666); err != nil {
			return "", err
		}
	}
	if err := compiler(ctx, work, program, append([]string{"main.cc"}, objects...)...); err != nil {
		return "", err
	}
	return program, nil
}

// Compressed is Program with debug information that is compressed by zlib, as Debian's.
func Compressed(ctx context.Context, dir string, units int) (string, error) {
	plain, err := Program(ctx, dir, units)
	if err != nil {
		return "", err
	}
	program := plain + "-zlib"
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	part := program + ".part"
	out, err := exec.CommandContext(ctx, "objcopy", "--compress-debug-sections=zlib", plain, part).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: no objcopy", build.ErrMissing)
	}
	if err != nil {
		return "", fmt.Errorf("compress %s: %w: %s", plain, err, out)
	}
	return program, os.Rename(part, program)
}

// folder makes the folder of programs that this compiler makes of these sources, and removes the
// programs of other compilers and sources.
func folder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	const prefix = "cplusplus-"
	sum := sha256.Sum256(bytes.Join([][]byte{unit, main, []byte(strings.Join(append(flags, codes...), " ")), []byte(build.Version("g++"))}, []byte{0}))
	own := filepath.Join(dir, fmt.Sprintf("%s%x", prefix, sum[:6]))
	others, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, other := range others {
		if other != own {
			err = errors.Join(err, os.RemoveAll(other))
		}
	}
	return own, errors.Join(err, os.MkdirAll(own, 0o777))
}

// compileAll makes the objects of the first units, as many at once as there are processors.
func compileAll(ctx context.Context, dir string, units int) (objects []string, err error) {
	if err := os.WriteFile(filepath.Join(dir, "unit.cc"), unit, 0o666); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan bool, runtime.NumCPU())
	for i := range units {
		object := filepath.Join(dir, fmt.Sprintf("unit%d.o", i))
		objects = append(objects, object)
		if _, err := os.Stat(object); err == nil {
			continue
		}
		slots <- true
		go func() {
			defer func() { <-slots }()
			if err := compiler(ctx, dir, object, "-c", fmt.Sprintf("-DUNIT=%d", i), "-DCODE="+codes[i%len(codes)], "unit.cc"); err != nil {
				stop(err)
			}
		}()
	}
	for range cap(slots) {
		slots <- true
	}
	return objects, context.Cause(ctx)
}

// compiler has g++ make a file, which is there when it is whole.
func compiler(ctx context.Context, dir, made string, args ...string) error {
	part := made + ".part"
	cmd := exec.CommandContext(ctx, "g++", append(append([]string{"-o", part}, flags...), args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: no g++", build.ErrMissing)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return os.Rename(part, made)
}
