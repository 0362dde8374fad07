package sniffer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/sniffer/dwarf"
	"github.com/sfwalk/sfwalk/sniffer/fp"
	"github.com/sfwalk/sfwalk/sniffer/internal/beam"
	"github.com/sfwalk/sfwalk/sniffer/internal/breakpad"
	"github.com/sfwalk/sfwalk/sniffer/internal/coreclr"
	"github.com/sfwalk/sfwalk/sniffer/internal/ehabi"
	"github.com/sfwalk/sfwalk/sniffer/internal/gostack"
	"github.com/sfwalk/sfwalk/sniffer/internal/hotspot"
	"github.com/sfwalk/sfwalk/sniffer/internal/luajit"
	"github.com/sfwalk/sfwalk/sniffer/internal/pdata"
	"github.com/sfwalk/sfwalk/sniffer/internal/pypy"
	"github.com/sfwalk/sfwalk/sniffer/internal/sbcl"
	"github.com/sfwalk/sfwalk/sniffer/internal/scan"
	"github.com/sfwalk/sfwalk/sniffer/internal/sigtramp"
	"github.com/sfwalk/sfwalk/sniffer/internal/v8"
	"github.com/sfwalk/sfwalk/sniffer/internal/yjit"
	"github.com/sfwalk/sfwalk/sniffer/internal/zend"
	"github.com/sfwalk/sfwalk/sniffer/prologue"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
	"github.com/sfwalk/sfwalk/target"
)

// Options add sniffers to the default ones, and tell sniffers where to find files. The zero value
// adds none.
type Options struct {
	// Separate finds SFrame sections for modules that have no usable one; it may be nil.
	Separate *sframe.Separate
	// Symbols is a folder of Breakpad's symbol files, or several, listed as in PATH; "" for none.
	// With one, the sniffer breakpad stands behind dwarf.
	Symbols string
	// Scan says that the sniffer scan stands behind all others, for crash reports. [Options.ByName]
	// returns scan without it, too.
	Scan bool
	// Windows says that the process is one of Windows: pdata stands behind dwarf.
	Windows bool
}

// Default returns the default sniffers, in the order in which they are asked.
//
// The most certain sniffer comes first: it recognizes a trampoline by its code. SFrame is the
// quickest table to read. Go's function table and the run time's code have information that no
// other table of a Go program has. Modules that promise frame pointers come next, and then DWARF,
// which tells most. If no table covers the PC, a sniffer reads the code. The guess comes last.
func Default() []frame.Sniffer { return Options{}.Default() }

// Default is like the function [Default], with these options.
func (o Options) Default() []frame.Sniffer {
	code := &prologue.Sniffer{Before: []func(*frame.Query) (uint64, bool){dwarf.Before, sframe.Before}, Rows: dwarf.Rows,
		Tables: []frame.Sniffer{&sframe.Sniffer{Separate: o.Separate}, &dwarf.Sniffer{}}, Records: fp.Records}
	list := []frame.Sniffer{&sigtramp.Sniffer{}, &sframe.Sniffer{Separate: o.Separate}}
	list = append(list, gostack.Sniffers()...)
	list = append(list, &coreclr.Hijack{}, &luajit.Sniffer{})
	list = append(list,
		&fp.Flagged{Promise: sframe.PromisesFramePointer, Better: []frame.Sniffer{&dwarf.Sniffer{}, code}},
		&dwarf.Sniffer{},
		&ehabi.Sniffer{},
	)
	if o.Windows {
		list = append(list, &pdata.Sniffer{})
	}
	if o.Symbols != "" {
		list = append(list, &breakpad.Sniffer{Dir: o.Symbols})
	}
	list = append(list,
		&hotspot.Sniffer{},
		&zend.Sniffer{Rows: dwarf.Rows},
		&coreclr.Sniffer{},
		&beam.Sniffer{},
		&sbcl.Sniffer{},
		&yjit.Sniffer{},
		&pypy.Sniffer{},
		&v8.Sniffer{Records: fp.Records},
		code,
		&fp.Guess{Scanned: o.Scan},
	)
	if o.Scan {
		list = append(list, o.scan())
	}
	return list
}

// scan returns the sniffer scan.
func (o Options) scan() frame.Sniffer {
	return &scan.Sniffer{HasSymbols: func(m *target.Module) bool {
		if o.Symbols == "" {
			return false
		}
		symbols, err := symbolstore.Open(o.Symbols, m)
		return err == nil && symbols != nil
	}}
}

// Table returns a table of the default sniffers, as [frame.New] and [frame.NewWalker] take it. For
// other sniffers, call [frame.NewTable] with what [Options.Default] or [ByName] returns.
func Table(a *arch.Arch) *frame.Table { return frame.NewTable(a, Default()...) }

// AllNames returns the names of all sniffers, in order: also of sniffers that no default table has.
func AllNames() []string { return Options{Symbols: "."}.AllNames() }

// Names returns the names of the default sniffers, in order.
func Names() []string { return Options{}.Names() }

// Names is like the function [Names], with these options.
func (o Options) Names() []string {
	var names []string
	for _, s := range o.Default() {
		names = append(names, s.Name())
	}
	return names
}

// ByName returns the sniffers with the given names, in that order. The error names
// the first unknown one, and lists all names.
func ByName(names ...string) ([]frame.Sniffer, error) { return Options{}.ByName(names...) }

// ByName is like the function [ByName], with these options.
func (o Options) ByName(names ...string) ([]frame.Sniffer, error) {
	var list []frame.Sniffer
	o.Scan = slices.Contains(names, "scan")
	for _, name := range names {
		s := o.find(name)
		if s == nil {
			return nil, fmt.Errorf("unknown sniffer %q: there are %s", name, strings.Join(o.AllNames(), ", "))
		}
		list = append(list, s)
	}
	return list, nil
}

// AllNames returns the names that [Options.ByName] knows: also the names of sniffers that are not
// default ones.
func (o Options) AllNames() []string {
	o.Scan, o.Windows = true, true
	return o.Names()
}

func (o Options) find(name string) frame.Sniffer {
	all := o
	all.Scan, all.Windows = true, true
	for _, s := range all.Default() {
		if s.Name() != name {
			continue
		}
		if guess, ok := s.(*fp.Guess); ok {
			guess.Scanned = o.Scan
		}
		return s
	}
	return nil
}
