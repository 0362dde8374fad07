package symbol_test

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// ownModules returns the modules that this process has mapped.
func ownModules() (*target.Modules, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		return nil, err
	}
	return procmaps.Modules(maps, func(f *procmaps.File) *target.Module {
		return target.NewModule(f.Path, f.Mappings, func() (*elf.Image, error) {
			im, _, err := elf.OpenFile(f.Path)
			return im, err
		})
	}), nil
}

// A process names one of its own functions. Targets, such as target/live's, have their modules
// ready.
func ExampleSymbolizer_Locate() {
	modules, err := ownModules()
	if err != nil {
		fmt.Println(err)
		return
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	pc := uint64(reflect.ValueOf(strings.ToUpper).Pointer())
	for _, at := range names.Locate(modules, pc) { // inlined calls first
		fmt.Printf("%s+%d in %s\n", at.Function, at.Offset, path.Base(at.File))
	}
	// Output:
	// strings.ToUpper+0 in strings.go
}

// regions is a source that names the parts of a module by their offsets.
type regions []struct {
	offset uint64
	name   string
}

// Open implements [symbol.Source].
func (r regions) Open(m *target.Module) (symbol.Table, error) {
	if m.Path != "[firmware]" {
		return nil, nil
	}
	return table{r, m.Lo()}, nil
}

// table is the table of regions for a module that begins at lo.
type table struct {
	regions
	lo uint64
}

// Locate implements [symbol.Table].
func (t table) Locate(pc uint64) []symbol.Location {
	for _, r := range t.regions {
		if start := t.lo + r.offset; pc >= start {
			return []symbol.Location{{Function: r.name, Start: start, Offset: pc - start}}
		}
	}
	return nil
}

// Warnings implements [symbol.Table].
func (t table) Warnings() []error { return nil }

// A program gives names that are in no ELF file as a source.
func ExampleSource() {
	m := target.NewModule("[firmware]", []target.Mapping{{Lo: 0x10000, Hi: 0x20000, Exec: true}}, nil)
	names := symbol.New(symbol.Options{Sources: []symbol.Source{regions{{0x400, "poll"}, {0, "start"}}}})
	defer names.Close()
	at := names.Locate(target.NewModules([]*target.Module{m}, nil), 0x10408)[0]
	fmt.Printf("%s+%#x\n", at.Function, at.Offset)
	// Output:
	// poll+0x8
}
