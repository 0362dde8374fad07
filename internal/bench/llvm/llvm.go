//go:build linux

// Package llvm runs llvm-symbolizer, and says in what two answers to the same questions differ.
package llvm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// A Frame is a function or an inlined call at an address. What is not known is "", or 0.
type Frame struct {
	Function string
	File     string
	Line     int
}

// Program returns the path of llvm-symbolizer. Debian has it with the release in its name, too. The
// error wraps [build.ErrMissing].
func Program() (string, error) {
	if path, err := exec.LookPath("llvm-symbolizer"); err == nil {
		return path, nil
	}
	list, err := filepath.Glob("/usr/bin/llvm-symbolizer-*")
	if err != nil || len(list) == 0 {
		return "", fmt.Errorf("%w: llvm-symbolizer is not installed", build.ErrMissing)
	}
	return slices.Max(list), nil
}

// Version returns the release of llvm-symbolizer.
func Version(program string) string {
	out, _ := exec.Command(program, "--version").Output()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "version") {
			return "llvm-symbolizer, " + strings.TrimSpace(line)
		}
	}
	return "llvm-symbolizer"
}

// Args are the arguments that have llvm-symbolizer answer for a file's own addresses.
func Args(file string) []string { return []string{"--obj=" + file} }

// Short returns the arguments for names as DWARF has them, without scopes and parameters.
func Short(file string) []string { return append(Args(file), "--functions=short") }

// WriteAddresses writes the questions.
func WriteAddresses(to io.Writer, addresses []uint64) error {
	out := bufio.NewWriter(to)
	for _, addr := range addresses {
		fmt.Fprintf(out, "%#x\n", addr)
	}
	return out.Flush()
}

// Ask asks llvm-symbolizer, and returns the frames of each address, innermost first.
func Ask(ctx context.Context, program string, args []string, addresses []uint64) ([][]Frame, error) {
	var in strings.Builder
	if err := WriteAddresses(&in, addresses); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	frames, err := Parse(strings.NewReader(string(out)))
	if err == nil && len(frames) != len(addresses) {
		err = fmt.Errorf("%v: %d answers to %d questions", cmd.Args, len(frames), len(addresses))
	}
	return frames, err
}

// Parse reads answers. Those of other programs need not have columns.
func Parse(from io.Reader) (answers [][]Frame, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20) // names of templates are long
	var frames []Frame
	for lines.Scan() {
		function := lines.Text()
		if function == "" {
			answers, frames = append(answers, frames), nil
			continue
		}
		if !lines.Scan() {
			return nil, fmt.Errorf("no line behind %q: %w", function, io.ErrUnexpectedEOF)
		}
		f := Frame{Function: function}
		f.File, f.Line, err = place(lines.Text())
		if err != nil {
			return nil, err
		}
		if f.Function == "??" {
			f.Function = ""
		}
		frames = append(frames, f)
	}
	return answers, lines.Err()
}

// place reads FILE:LINE or FILE:LINE:COLUMN.
func place(text string) (file string, line int, err error) {
	cut := func() (number int, err error) {
		i := strings.LastIndexByte(text, ':')
		number, err = strconv.Atoi(text[i+1:])
		if i < 0 || err != nil {
			return 0, fmt.Errorf("no line in %q", text)
		}
		text = text[:i]
		return number, nil
	}
	if line, err = cut(); err != nil {
		return "", 0, err
	}
	if before, err := cut(); err == nil {
		line = before
	}
	if text == "??" {
		return "", line, nil
	}
	return filepath.Clean(text), line, nil
}
