package stacks

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/minidump"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// dumping is what the flags of a core file's command say of the minidump that it also writes.
type dumping struct {
	path, format string
	most         int64 // bytes of memory

	file *files.Saving // at path; nil for none
}

func (d *dumping) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.path, "save", "", "also write a minidump to this file: x.dmp, or with --format minidump a file of any name; - for standard output, in place of the stacks")
	cmd.Flags().StringVar(&d.format, "format", "", "with --save: minidump. Without, "+report.FormatHelp)
	d.most = usualSaved
	cmd.Flags().Var((*cmdline.Size)(&d.most), "max-saved", "how much memory --save keeps, for example 2G")
}

// isDump reports whether a file has the name of a minidump.
func isDump(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".dmp" || ext == ".mdmp"
}

// check finds mistakes in the flags.
func (d *dumping) check(flags *report.Flags) error {
	if d.format == "" && isDump(d.path) {
		d.format = "minidump"
	}
	switch {
	case d.path == "" && d.format == "minidump":
		return exit.Misuse(errors.New("--format minidump is for the file which --save names"))
	case d.path == "":
		flags.Sum.Format = d.format
	case d.path != "" && d.format == "":
		return exit.Misuse(errors.New("--save: the file is a core already: --format minidump makes a minidump of it"))
	case d.path != "" && d.format != "minidump":
		return exit.Misuse(fmt.Errorf("--format %s: want minidump", d.format))
	}
	return nil
}

// begin makes the minidump's file, before the core is read.
func (d *dumping) begin(cmd *cobra.Command) (err error) {
	if d.path != "" {
		d.file, err = files.New("--save", d.path, cmdline.Unescaped(cmd))
	}
	return err
}

// show prints a core's stacks, and writes the minidump if the flags ask for one.
func (d *dumping) show(cmd *cobra.Command, s report.Source, flags *report.Flags) error {
	if d.path == "" {
		return show.Target(cmd, s, flags)
	}
	if err := minidump.Writable(s.Arch()); err != nil {
		return fmt.Errorf("--save %s: %w", d.path, err)
	}
	files.OutliveReader()
	if d.path == "-" { // the stacks are for the file of -o, if there is one
		out := cmd.OutOrStdout()
		cmd.SetOut(io.Discard)
		defer cmd.SetOut(out)
	}
	flags.Kept = report.NewKeptLanguages()
	shown := show.Target(cmd, s, flags)
	if files.ReaderGone(shown) {
		shown = nil
	}
	if shown != nil && !errors.Is(shown, exit.ErrEarly) {
		return shown
	}
	// What a walk of all stacks reads beside them is in the dump: stacks that a signal handler has
	// left, code without a file.
	noted := &notedMemory{Memory: s.Memory(), pages: map[uint64]bool{}}
	again := notedSource{s, noted}
	walked := []report.Source{again}
	if flags.Sum.Goroutines {
		with, err := report.WithGoroutines(again, false)
		if err != nil {
			return err
		}
		walked = append(walked, with)
	}
	for _, x := range walked {
		if err := report.Walk(x, &report.Flags{Choice: sniffers.Choice{Separate: flags.Separate, Plugins: flags.Plugins}, Kept: flags.Kept}); err != nil {
			return err
		}
	}
	var of target.Target
	var c *core.Target
	switch s := s.(type) {
	case *targets.CoreFile:
		of, c = s.Target, s.Target
	case *targets.SnapshotFile:
		of, c = s.Target, s.Target.Target
	}
	contents, cut, err := minidump.OfCore(of, c, noted.read(), notedPage, d.most)
	if err != nil {
		return fmt.Errorf("--save %s: %w", d.path, err)
	}
	if contents.Languages, err = d.languages(cmd, of, flags.Kept); err != nil {
		return err
	}
	if cut {
		cmdline.Warn(cmd, fmt.Sprintf("--save %s: there are more than %d MiB of stacks, and the outer part of some is not saved: allow more by --max-saved SIZE", d.path, d.most>>20))
	}
	if err := d.file.Write(contents); err != nil {
		return err
	}
	return shown
}

// languages returns what languages said of a core's stacks, for a minidump.
func (d *dumping) languages(cmd *cobra.Command, of target.Target, kept *report.KeptLanguages) ([]byte, error) {
	threads, err := of.Threads()
	if err != nil {
		return nil, err
	}
	s := &snapshot.Snapshot{}
	for _, th := range threads {
		s.Threads = append(s.Threads, snapshot.Thread{TID: th.ID()})
	}
	addLanguages(cmd, d.path, s, kept)
	return minidump.LanguagesOf(s), nil
}

// addLanguages adds what languages said to a snapshot, and says what is too large for it.
func addLanguages(cmd *cobra.Command, path string, s *snapshot.Snapshot, kept *report.KeptLanguages) {
	if left := kept.AddTo(s); left > 0 {
		cmdline.Warn(cmd, fmt.Sprintf("--save %s: what languages say of the stacks of %s is not saved: it is too large", path, count.Of(left, "thread")))
	}
	if err := kept.AddTasksTo(s); err != nil {
		cmdline.Warn(cmd, fmt.Sprintf("--save %s: tasks are not saved: %v", path, err))
	}
}
