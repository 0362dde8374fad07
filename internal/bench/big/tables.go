//go:build linux

package big

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	manyFDEs = 1_000_000
	someFDEs = 10_000

	moreMemory = 2 << 20 // bytes that a hundred times the FDEs may take
)

var tables = subject{
	goals: []report.Goal{
		{What: "attach, 1000000 FDEs: CPU", Peer: "10000 FDEs", Most: 1.1},
		{What: "attach, 1000000 FDEs: memory", Peer: "10000 FDEs and 2 MiB", Most: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		costs, err := b.attachToTables(ctx, []int{b.count(someFDEs, 100), b.count(manyFDEs, 10_000)})
		if err == nil {
			few, many := costs[0], costs[len(costs)/2]
			processor(&goals[0], many, few)
			few.Peak += moreMemory
			memory(&goals[1], many, few)
		}
		return err
	},
}

var bareTables = subject{
	goals: []report.Goal{
		{What: "attach, 1000000 FDEs, static, without .eh_frame_hdr: CPU", Peer: euStack, Most: 0.7},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		if _, _, err := b.dir.EuStack(); err != nil {
			return err
		}
		costs, err := b.attachToTables(ctx, []int{b.count(manyFDEs, 10_000)}, "-static", "-Wl,--no-eh-frame-hdr")
		if err == nil {
			processor(&goals[0], costs[0], costs[1])
		}
		return err
	},
}

// attachToTables has sfwalk and, if it is there, eu-stack print the stacks of processes with so
// many FDEs, in turns.
func (b *bench) attachToTables(ctx context.Context, sizes []int, flags ...string) ([]command.Cost, error) {
	var list []contest.Contestant
	hide := b.Run.CanHide(ctx)
	work := "attach, FDEs"
	for _, flag := range flags {
		work += ", " + flag
	}
	commands := []string{ours, euStack}
	if _, _, err := b.dir.EuStack(); err != nil {
		commands = commands[:1]
	}
	for _, n := range sizes {
		program, err := b.makeTables(ctx, n, flags)
		if err != nil {
			return nil, err
		}
		path, args := b.Run.Hidden(hide, []string{program, "1", "40"})
		p, err := process.Start(nil, path, args...)
		if err != nil {
			return nil, err
		}
		defer p.Stop()
		stacks, err := b.stacks(p.PID, commands...)
		if err != nil {
			return nil, err
		}
		for _, one := range stacks {
			one.Name, one.Hide = fmt.Sprintf("%s, %d FDEs", one.Name, n), hide
			list = append(list, one)
		}
	}
	return b.printStacks(ctx, work, list)
}

// makeTables makes a program whose code has so many FDEs, besides the FDEs of wait.c and of what
// wait.c needs.
func (b *bench) makeTables(ctx context.Context, n int, flags []string) (string, error) {
	source := filepath.Join(b.dir.Path, fmt.Sprintf("fdes%d.s", n))
	object := source + ".o"
	text := fmt.Appendf(nil, `	.text
	.rept %d
	.cfi_startproc
	pushq %%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %%rbx, 0
	popq %%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %%rbx
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack,"",@progbits
`, n)
	before, _ := os.ReadFile(source)
	if _, err := os.Stat(object); err != nil || !bytes.Equal(before, text) { // the assembler takes a quarter of a minute for a million
		if err := os.WriteFile(source, text, 0o666); err != nil {
			return "", err
		}
		part := object + ".part"
		if out, err := exec.CommandContext(ctx, "as", "-o", part, source).CombinedOutput(); err != nil {
			return "", fmt.Errorf("as %s: %w\n%s", source, err, out)
		}
		if err := os.Rename(part, object); err != nil {
			return "", err
		}
	}
	return b.dir.C(fmt.Sprintf("fdes%d-%d", n, len(flags)), append([]string{object}, append(flags, build.Walked...)...), "wait.c", "deep.c", "ticker.c")
}
