//go:build linux

package big

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/llvm"
)

// Names is what package symbol (internal/bench/namer) and llvm-symbolizer take for the same addresses of a file, and
// in what their answers differ.
type Names struct {
	Ours, Theirs           cost
	OurLines, TheirLines   int // frames that have one
	Differences            llvm.Differences
	Addresses              []uint64
	OurFrames, TheirFrames [][]llvm.Frame
	Warnings               []string // of package symbol
}

// CompareNames asks both for the names of addresses, several rounds in turns.
func CompareNames(ctx context.Context, d build.Dir, rounds int, path string, addresses []uint64) (*Names, error) {
	m, err := newMeter(d, rounds)
	if err != nil {
		return nil, err
	}
	return m.names(ctx, path, addresses)
}

func (m *meter) names(ctx context.Context, path string, addresses []uint64) (*Names, error) {
	symbolizer, err := llvm.Program()
	if err != nil {
		return nil, err
	}
	namer, err := m.dir.Go("namer", "./internal/bench/namer")
	if err != nil {
		return nil, err
	}
	var questions bytes.Buffer
	if err := llvm.WriteAddresses(&questions, addresses); err != nil {
		return nil, err
	}
	in := filepath.Join(m.dir.Path, "addresses")
	if err := os.WriteFile(in, questions.Bytes(), 0o666); err != nil {
		return nil, err
	}
	n := &Names{Addresses: addresses}
	costs, err := m.contest(ctx, []contestant{
		{name: "namer", args: []string{namer, path}, in: in},
		{name: "llvm-symbolizer", args: append([]string{symbolizer}, llvm.Args(path)...), in: in},
	}, func(i int, out []byte) error {
		if i > 0 {
			return nil // the answers to be compared have other names
		}
		answers, warnings := cutWarnings(out)
		n.Warnings = warnings
		n.OurFrames, err = llvm.Parse(answers)
		if err == nil && len(n.OurFrames) != len(addresses) {
			err = fmt.Errorf("%d answers to %d questions", len(n.OurFrames), len(addresses))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	n.Ours, n.Theirs = costs[0], costs[1]
	if n.TheirFrames, err = llvm.Ask(ctx, symbolizer, llvm.Short(path), addresses); err != nil {
		return nil, err
	}
	rows, err := llvm.ReadRows(path)
	if err != nil {
		return nil, err
	}
	n.OurLines, n.TheirLines = llvm.Lines(n.OurFrames), llvm.Lines(n.TheirFrames)
	n.Differences = llvm.Compare(n.OurFrames, n.TheirFrames, func(i int, f llvm.Frame) bool { return rows.Has(addresses[i], f) })
	return n, nil
}

// cutWarnings splits the namer's output, which has both streams in it.
func cutWarnings(out []byte) (answers io.Reader, warnings []string) {
	var rest strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "namer: ") {
			warnings = append(warnings, strings.TrimSpace(line))
		} else {
			rest.WriteString(line)
		}
	}
	return strings.NewReader(rest.String()), warnings
}
