package php

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds the Zend engine: in php, php-fpm, php-cgi, libphp.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "php" }

// engineSymbol is a variable that every engine has.
var engineSymbol = elf.Seldom("zend_execute_ex")

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, nil // it is said elsewhere that the file cannot be read
	}
	if !im.MayHaveSymbol(engineSymbol) {
		return nil, nil
	}
	e := &engine{arch: p.Arch, module: m, image: im, bias: bias, own: owncode.New(m, im, bias, isOwn)}
	var ok bool
	if e.execute, ok = e.symbol("execute_ex"); !ok {
		return nil, nil
	}
	api, threaded, known := e.build(p.Memory)
	switch {
	case !known:
		return nil, errors.New("it has PHP's engine, but nothing tells its release: it is just starting, or its memory is not there")
	case p.Arch.PtrSize != 8:
		return nil, errors.New("the layout of PHP's structures is known of 64-bit processors alone")
	}
	if e.layout, err = layoutOf(api); err != nil {
		return nil, err
	}
	known = e.layout != nil
	if !known && api > newest {
		if e.layout, err = layoutOf(newest); err != nil {
			return nil, err
		}
	}
	if e.layout == nil {
		return nil, fmt.Errorf("the layout of PHP's structures is not known of its API %d", api)
	}
	if functions, ok := e.symbol("zend_flf_functions"); ok {
		if handlers, ok := e.symbol("zend_flf_handlers"); ok {
			e.framelessFunctions, e.framelessHandlers = functions.lo, handlers.lo
		}
	}
	if e.where, err = e.places(p.Memory, p.Modules, threaded); err != nil {
		return nil, err
	}
	if known {
		return []language.Runtime{e}, nil
	}
	if err := e.fits(p.Memory); err != nil {
		return nil, fmt.Errorf("the layout of PHP's structures is not known of its API %d, and the one of %d does not fit: %w", api, newest, err)
	}
	return []language.Runtime{e}, fmt.Errorf("the layout of PHP's structures is not known of its API %d: the one of %d fits as far as it was checked", api, newest)
}

// engine is PHP's engine in a process.
type engine struct {
	*layout
	arch    *arch.Arch
	module  *target.Module
	image   *elf.Image
	bias    uint64
	execute span // the code of execute_ex
	where   places
	// The addresses of the tables of functions that are called without a record of the call, and of
	// the functions of C that they are; 0 if there are none.
	framelessFunctions, framelessHandlers uint64

	own   *owncode.Code
	spare pages.Spare
}

// span is a range of addresses of the process.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return addr-s.lo < s.hi-s.lo }

// symbol returns where the process has a symbol of the module.
func (e *engine) symbol(name string) (span, bool) {
	for _, s := range e.image.Lookup(name, 1) {
		return span{s.Addr + e.bias, s.Addr + s.Size + e.bias}, true
	}
	return span{}, false
}

// build returns the number of the interface of extensions, which each release has of its own, and
// whether threads have states of their own. The records of all extensions begin with them.
func (e *engine) build(m target.Memory) (api int, threaded, ok bool) {
	registry, ok := e.symbol("module_registry")
	if !ok {
		return 0, false, false
	}
	r := e.reader(m)
	defer r.Free()
	// A HashTable; these fields are in the same places in all releases from 7.3 on.
	const data, used, bucket, most = 16, 24, 32, 64
	buckets := r.Pointer(registry.lo + data)
	for i := range min(r.Uint(registry.lo+used, 4), most) {
		// unsigned short size; unsigned int zend_api; unsigned char zend_debug, zts
		entry := r.Pointer(buckets + i*bucket)
		size, api, threaded := r.Uint(entry, 2), r.Uint(entry+4, 4), r.Uint(entry+9, 1)
		if r.Err() == nil && size >= 100 && size < 1000 && api > 2010_00_00 && api < 2100_00_00 && threaded <= 1 {
			return int(api), threaded == 1, true
		}
	}
	return 0, false, false
}

// reader returns a reader of a memory. Who is done calls Free.
func (e *engine) reader(m target.Memory) *structs.Reader { return structs.New(e.arch, m, &e.spare) }
