package sniffers

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
)

// Choice are the flags that choose the sniffers.
type Choice struct {
	Order []string
	First frame.Sniffer // is asked before all others; nil if there is none

	sframeDirs []string
	Separate   *sframe.Separate // of sframeDirs; nil if there are none

	Scan         bool     // whether to scan stacks for return addresses
	symbolPlaces []string // folders and servers that have Breakpad's symbol files
	SymbolDirs   string   // the folders, servers' among them, listed as in PATH, for sniffer and symbolizer; "" for none
	Fetching     Fetching
	NoIndex      bool

	PluginFlags PluginFlags
	Plugins     *Plugins // that run; nil if there are none
}

// Add adds the flags to a command.
func (w *Choice) Add(cmd *cobra.Command, host hosts.Plugins) {
	f := cmd.Flags()
	cmdline.List(f, &w.Order, "sniffers", "the sniffers to ask, in this order; plug-ins by their names (default "+strings.Join(sniffer.Names(), ",")+")")
	cmd.RegisterFlagCompletionFunc("sniffers", w.completeSniffers)
	f.BoolVar(&w.Scan, "scan", w.Scan, "where no other sniffer knows a caller, look for a return address on the stack (sniffer scan); such frames are guesses")
	w.PluginFlags.Add(cmd, host)
	cmdline.Texts(f, &w.sframeDirs, "sframe-dir", "a folder of SFrame sections by build ID, made by 'sfwalk sframe gen', for modules without their own; repeatable")
	cmdline.Texts(f, &w.symbolPlaces, "symbols", "a folder of Breakpad's symbol files, laid out as NAME/IDENTIFIER/NAME.sym, or a server that has them so (https://HOST/…), for programs without names, lines or unwind tables; the sniffer breakpad reads their STACK CFI; repeatable")
	f.BoolVar(&w.NoIndex, "no-symbol-index", false, "neither use nor keep indexes of large symbol files, which are below the user's cache folder")
}

// Check finds mistakes in the flags before a plug-in is started.
func (w *Choice) Check() error {
	for _, dir := range w.sframeDirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return exit.Misuse(fmt.Errorf("--sframe-dir %s: want a folder", dir))
		}
	}
	if err := w.checkSymbols(); err != nil {
		return err
	}
	if w.NoIndex {
		symbolstore.NoIndexes()
	}
	if len(w.sframeDirs) > 0 {
		w.Separate = &sframe.Separate{Dirs: w.sframeDirs}
	}
	return w.PluginFlags.Check()
}

// Begin starts the plug-ins. end ends them.
func (w *Choice) Begin(cmd *cobra.Command) (err error) {
	w.Fetching.begin(cmd)
	if w.Plugins, err = w.PluginFlags.start(cmd.Context(), w.Order); err != nil {
		return err
	}
	if err := w.checkOrder(); err != nil {
		w.End()
		if cmd.Context().Err() != nil {
			return exit.ErrInterrupted
		}
		for _, text := range w.Plugins.Warnings() {
			cmdline.Warn(cmd, text)
		}
		return err
	}
	return nil
}

// End ends the plug-ins.
func (w *Choice) End() { w.Plugins.Close() }

// checkOrder finds unknown names in --sniffers. It waits for the plug-ins only if a name is not
// a built-in sniffer's.
func (w *Choice) checkOrder() error {
	for _, name := range w.Order {
		if names := w.options().AllNames(); !slices.Contains(names, name) {
			if names = append(names, w.Plugins.names()...); !slices.Contains(names, name) {
				return exit.Misuse(fmt.Errorf("--sniffers: unknown sniffer %q: there are %s", name, strings.Join(names, ", ")))
			}
		}
	}
	return nil
}

// Table returns a Table of the sniffers that the flags choose. external are the sniffers of the
// plug-ins. windows says that the process is one of Windows.
func (w *Choice) Table(a *arch.Arch, windows bool, external []hosts.Sniffer) *frame.Table {
	options := w.options()
	options.Windows = windows
	var list []frame.Sniffer
	for _, name := range w.Order { // checkOrder has found all of them
		if i := slices.IndexFunc(external, func(x hosts.Sniffer) bool { return x.Name() == name }); i >= 0 {
			list = append(list, external[i])
		} else if own, err := options.ByName(name); err == nil {
			list = append(list, own...)
		}
	}
	ordered := len(list) > 0
	if !ordered {
		list = options.Default()
	}
	t := frame.NewTable(a, list...)
	if w.First != nil {
		t.Prepend(w.First)
	}
	w.Plugins.insert(t, external, ordered)
	return t
}

func (w *Choice) options() sniffer.Options {
	return sniffer.Options{Separate: w.Separate, Symbols: w.SymbolDirs, Scan: w.Scan}
}

// Warned returns the mistakes in the files that the flags name, and in the plug-ins.
func (w *Choice) Warned() (list []string) {
	list = w.Fetching.warnings()
	if w.Separate != nil {
		for _, err := range w.Separate.Warnings() {
			list = append(list, err.Error())
		}
	}
	return append(list, w.Plugins.Warnings()...)
}
