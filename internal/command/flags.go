package command

import (
	"fmt"
	"os"
	"slices"
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

	pluginFlags pluginFlags
	plugins     *plugins // that run; nil if there are none
}

func (w *walkFlags) add(cmd *cobra.Command, host Host) {
	f := cmd.Flags()
	f.IntSliceVar(&w.tids, "tid", nil, "only these threads, by thread ID")
	f.IntVar(&w.maxFrames, "max-frames", 0, "at most this many physical frames a thread; 0 for all")
	f.StringSliceVar(&w.sniffers, "sniffers", nil, "which sniffers to ask, in order, plug-ins by their names, too (default "+strings.Join(sniffer.Names(), ",")+")")
	w.pluginFlags.add(cmd, host)
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
	for _, dir := range w.sframeDirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usageError{fmt.Errorf("--sframe-dir %s: want a folder", dir)}
		}
	}
	if len(w.sframeDirs) > 0 {
		w.separate = &sframe.Separate{Dirs: w.sframeDirs}
	}
	return w.pluginFlags.check()
}

// begin finds mistakes, and starts the plug-ins, before a target is touched. end ends them.
func (w *walkFlags) begin(cmd *cobra.Command) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	if w.plugins, err = w.pluginFlags.start(cmd.Context(), w.sniffers); err != nil {
		return err
	}
	if err := w.checkOrder(); err != nil {
		w.end()
		if cmd.Context().Err() != nil {
			return errInterrupted
		}
		for _, text := range w.plugins.warned() {
			warn(cmd, text)
		}
		return err
	}
	return nil
}

func (w *walkFlags) end() { w.plugins.Close() }

// checkOrder finds names in the order that are nobody's. It waits for the plug-ins only
// where they may be theirs.
func (w *walkFlags) checkOrder() error {
	for _, name := range w.sniffers {
		if names := sniffer.Names(); !slices.Contains(names, name) {
			if names = append(names, w.plugins.names()...); !slices.Contains(names, name) {
				return usageError{fmt.Errorf("--sniffers: unknown sniffer %q: there are %s", name, strings.Join(names, ", "))}
			}
		}
	}
	return nil
}

// table returns a table of the sniffers that are asked, external being those of plug-ins.
func (w *walkFlags) table(a *arch.Arch, external []Sniffer) *frame.Table {
	var list []frame.Sniffer
	for _, name := range w.sniffers { // checkOrder has seen to it
		if i := slices.IndexFunc(external, func(x Sniffer) bool { return x.Name() == name }); i >= 0 {
			list = append(list, external[i])
		} else if own, err := sniffer.ByName(name); err == nil {
			list = append(list, own...)
		}
	}
	ordered := len(list) > 0
	if !ordered {
		list = sniffer.Default()
	}
	for i := range list {
		if s, ok := list[i].(sframe.Sniffer); ok {
			s.Separate = w.separate
			list[i] = s
		}
	}
	t := frame.NewTable(a, list...)
	w.plugins.insert(t, external, ordered)
	return t
}

// warnings returns what was wrong with what the flags name.
func (w *walkFlags) warnings() (list []string) {
	if w.separate != nil {
		for _, err := range w.separate.Warnings() {
			list = append(list, err.Error())
		}
	}
	return append(list, w.plugins.warned()...)
}

func warn(cmd *cobra.Command, text string) {
	fmt.Fprintf(cmd.ErrOrStderr(), "sfwalk: warning: %s\n", text)
}

// useColor says whether to colour what goes to f.
func (w *walkFlags) useColor(f any) bool {
	if w.color != "auto" {
		return w.color == "always"
	}
	file, ok := f.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
