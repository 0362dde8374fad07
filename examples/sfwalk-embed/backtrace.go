//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// backtrace prints the stack of a process that the debugger has stopped.
func backtrace(w io.Writer, pid int) error {
	p := &process{pid: pid}
	var err error
	if p.mem, err = os.Open(fmt.Sprintf("/proc/%d/mem", pid)); err != nil {
		return err
	}
	defer p.Close()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		return err
	}
	p.modules = procmaps.Modules(maps, p.module)
	names := symbol.New(symbol.Options{})
	defer names.Close()

	stack, err := frame.New(p, p, sniffer.Table(p.Arch()))
	if err != nil {
		return err
	}
	for f, err := range logical.New(p, names).All(stack) { // with inlined calls and tail calls
		if err != nil {
			return err // the stack ends early, for this reason; the frames before are valid
		}
		show(w, &f)
	}
	return nil
}

func show(w io.Writer, f *logical.Frame) {
	switch f.Type {
	case frame.SigTramp:
		why := ""
		if s, ok := f.Physical.Signal(); ok {
			why = ": " + s.String()
		}
		fmt.Fprintf(w, "#%-3d <signal handler called%s>\n", f.Level, why)
	case frame.Dummy:
		fmt.Fprintf(w, "#%-3d <function called from sfwalk-embed>\n", f.Level)
	default:
		fmt.Fprintf(w, "#%-3d %#016x in %s (%s:%d)\n", f.Level, f.PC, shown(f.Function), shown(f.File), f.Line)
	}
}

// shown makes a name fit for a terminal: it may have anything in it.
func shown(name string) string { return strings.Trim(strconv.QuoteToGraphic(name), `"`) }

// module makes a module of a mapped file, which is opened when somebody first asks.
func (p *process) module(f *procmaps.File) *target.Module {
	return target.NewModule(f.Path, f.Mappings, func() (*elf.Image, error) {
		if f.IsVDSO() {
			return elf.OpenMapped(p, f.Lo, f.Hi-f.Lo)
		}
		im, _, err := elf.OpenFile(f.Path) // open until this program ends
		return im, err
	})
}
