package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
)

// tableFlags are the flags that choose the sniffers.
type tableFlags struct {
	sniffers []string
	first    frame.Sniffer // is asked before all others; nil if there is none

	sframeDirs []string
	separate   *sframe.Separate // of sframeDirs; nil if there are none

	scan         bool     // whether to scan stacks for return addresses
	symbolPlaces []string // folders and servers that have Breakpad's symbol files
	symbols      string   // the folders, those of servers among them, listed as in PATH, for sniffer and symbolizer; "" for none
	fetching     fetching
	noIndex      bool

	pluginFlags pluginFlags
	plugins     *plugins // that run; nil if there are none
}

func (w *tableFlags) add(cmd *cobra.Command, host PluginHost) {
	f := cmd.Flags()
	listVar(f, &w.sniffers, "sniffers", "the sniffers to ask, in this order; plug-ins by their names (default "+strings.Join(sniffer.Names(), ",")+")")
	cmd.RegisterFlagCompletionFunc("sniffers", w.completeSniffers)
	f.BoolVar(&w.scan, "scan", w.scan, "where no other sniffer knows a caller, look for a return address on the stack (sniffer scan); such frames are guesses")
	w.pluginFlags.add(cmd, host)
	textsVar(f, &w.sframeDirs, "sframe-dir", "a folder of SFrame sections by build ID, made by 'sfwalk sframe gen', for modules without their own; repeatable")
	textsVar(f, &w.symbolPlaces, "symbols", "a folder of Breakpad's symbol files, laid out as NAME/IDENTIFIER/NAME.sym, or a server that has them so (https://HOST/…), for programs without names, lines or unwind tables; the sniffer breakpad reads their STACK CFI; repeatable")
	f.BoolVar(&w.noIndex, "no-symbol-index", false, "neither use nor keep indexes of large symbol files, which are below the user's cache folder")
}

// check finds mistakes in the flags before a plug-in is started.
func (w *tableFlags) check() error {
	for _, dir := range w.sframeDirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usageError{fmt.Errorf("--sframe-dir %s: want a folder", dir)}
		}
	}
	if err := w.checkSymbols(); err != nil {
		return err
	}
	if w.noIndex {
		symbolstore.NoIndexes()
	}
	if len(w.sframeDirs) > 0 {
		w.separate = &sframe.Separate{Dirs: w.sframeDirs}
	}
	return w.pluginFlags.check()
}

// start starts the plug-ins. end ends them.
func (w *tableFlags) start(cmd *cobra.Command) (err error) {
	w.fetching.begin(cmd)
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

func (w *tableFlags) end() { w.plugins.Close() }

// checkOrder finds unknown names in --sniffers. It waits for the plug-ins only if a name is not
// a built-in sniffer's.
func (w *tableFlags) checkOrder() error {
	for _, name := range w.sniffers {
		if names := w.options().AllNames(); !slices.Contains(names, name) {
			if names = append(names, w.plugins.names()...); !slices.Contains(names, name) {
				return usageError{fmt.Errorf("--sniffers: unknown sniffer %q: there are %s", name, strings.Join(names, ", "))}
			}
		}
	}
	return nil
}

// table returns a table of the sniffers that the flags choose. external are the sniffers of the
// plug-ins. windows says that the process is one of Windows.
func (w *tableFlags) table(a *arch.Arch, windows bool, external []Sniffer) *frame.Table {
	options := w.options()
	options.Windows = windows
	var list []frame.Sniffer
	for _, name := range w.sniffers { // checkOrder has found all of them
		if i := slices.IndexFunc(external, func(x Sniffer) bool { return x.Name() == name }); i >= 0 {
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
	if w.first != nil {
		t.Prepend(w.first)
	}
	w.plugins.insert(t, external, ordered)
	return t
}

func (w *tableFlags) options() sniffer.Options {
	return sniffer.Options{Separate: w.separate, Symbols: w.symbols, Scan: w.scan}
}

// warnings returns the mistakes in the files that the flags name, and in the plug-ins.
func (w *tableFlags) warnings() (list []string) {
	list = w.fetching.warnings()
	if w.separate != nil {
		for _, err := range w.separate.Warnings() {
			list = append(list, err.Error())
		}
	}
	return append(list, w.plugins.warned()...)
}
