package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
)

// walkFlags are the flags of every command that prints stacks.
type walkFlags struct {
	tids      []int
	maxFrames int
	sniffers  []string
	registers bool
	explain   bool
	noLines   bool
	json      bool
	color     string

	sframeDirs []string
	separate   *sframe.Separate // of sframeDirs; nil if there are none
}

func (w *walkFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntSliceVar(&w.tids, "tid", nil, "only these threads, by thread ID")
	f.IntVar(&w.maxFrames, "max-frames", 0, "at most this many physical frames a thread; 0 for all")
	f.StringSliceVar(&w.sniffers, "sniffers", nil, "which sniffers to ask, in order (default "+strings.Join(sniffer.Names(), ",")+")")
	f.StringArrayVar(&w.sframeDirs, "sframe-dir", nil, "a folder of SFrame sections by build ID, made by 'sfwalk sframe gen', for modules that have none; repeatable")
	f.BoolVar(&w.registers, "registers", false, "print each frame's registers, as that frame sees them")
	f.BoolVar(&w.explain, "explain", false, "print who unwound each frame, by which row, and why others declined")
	f.BoolVar(&w.noLines, "no-lines", false, "functions alone, without files, lines and inlined calls: debug information is not read, which saves time where there is much of it")
	f.BoolVar(&w.json, "json", false, "print one JSON document (see docs/json.md)")
	f.StringVar(&w.color, "color", "auto", "colour the text: auto, always or never; auto respects NO_COLOR")
}

// check finds mistakes before a target is touched.
func (w *walkFlags) check() error {
	switch {
	case w.maxFrames < 0:
		return usageError{fmt.Errorf("--max-frames %d: want 0 or more", w.maxFrames)}
	case w.color != "auto" && w.color != "always" && w.color != "never":
		return usageError{fmt.Errorf("--color %s: want auto, always or never", w.color)}
	}
	if _, err := sniffer.ByName(w.sniffers...); err != nil {
		return usageError{fmt.Errorf("--sniffers: %w", err)}
	}
	for _, dir := range w.sframeDirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usageError{fmt.Errorf("--sframe-dir %s: want a folder", dir)}
		}
	}
	if len(w.sframeDirs) > 0 {
		w.separate = &sframe.Separate{Dirs: w.sframeDirs}
	}
	return nil
}

func (w *walkFlags) table(a *arch.Arch) *frame.Table {
	list := sniffer.Default()
	if len(w.sniffers) > 0 {
		list, _ = sniffer.ByName(w.sniffers...) // check has seen to it
	}
	for i := range list {
		if s, ok := list[i].(sframe.Sniffer); ok {
			s.Separate = w.separate
			list[i] = s
		}
	}
	return frame.NewTable(a, list...)
}

// warnings returns what was wrong with what the flags name.
func (w *walkFlags) warnings() (list []string) {
	if w.separate != nil {
		for _, err := range w.separate.Warnings() {
			list = append(list, err.Error())
		}
	}
	return list
}

// useColor says whether to colour what goes to f.
func (w *walkFlags) useColor(f any) bool {
	if w.color != "auto" {
		return w.color == "always"
	}
	file, ok := f.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
