package php

import (
	"errors"

	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// state is where a thread has PHP's state.
type state struct {
	globals uint64 // the engine's, zend_executor_globals
	request uint64 // the server interface's, sapi_globals_struct; 0 if that is not known
}

// places say where threads have their states. In a build for threads (ZTS), each has its own.
type places struct {
	state
	threaded bool
	// Of a build for threads: the key by which a thread has the address of its states, and where
	// among them the ones of state are.
	key     uint32
	storage *threadlocal.Finder
	offsets state
}

var errNoPlaces = errors.New("where PHP has its state is not known")

// places finds out where threads have their states.
func (e *engine) places(m target.Memory, modules *target.Modules, threaded bool) (p places, err error) {
	suffix := ""
	if threaded {
		suffix = "_offset"
	}
	globals, ok := e.symbol("executor_globals" + suffix)
	if !ok {
		return p, errNoPlaces
	}
	request, _ := e.symbol("sapi_globals" + suffix)
	p = places{state: state{globals.lo, request.lo}}
	if !threaded {
		return p, nil
	}
	r := e.reader(m)
	defer r.Free()
	p.threaded, p.storage = true, threadlocal.New(e.arch, m, modules)
	p.offsets.globals = r.Pointer(globals.lo)
	if request.lo != 0 {
		p.offsets.request = r.Pointer(request.lo)
	}
	if p.key, ok = e.key(r); !ok || r.Err() != nil {
		return p, errors.New("where a thread of this build for threads (ZTS) has PHP's state is not known")
	}
	return p, nil
}

// key returns the key of pthread_getspecific by which a thread has the address of its states. The
// function tsrm_get_ls_cache loads it from a variable.
func (e *engine) key(r *structs.Reader) (key uint32, ok bool) {
	get, ok := e.symbol("tsrm_get_ls_cache")
	if !ok || e.arch.Zend == nil || e.arch.Zend.ThreadKey == nil {
		return 0, false
	}
	code := make([]byte, 16)
	if !r.Bytes(get.lo, code) {
		return 0, false
	}
	variable, ok := e.arch.Zend.ThreadKey(code, get.lo)
	if !ok {
		return 0, false
	}
	return uint32(r.Uint(variable, 4)), true
}

// of returns where a thread has its state. ok is false if it has none, or that cannot be read.
func (p *places) of(r *structs.Reader, s *language.Stack) (of state, ok bool) {
	if !p.threaded {
		return p.state, true
	}
	tp, ok := threadlocal.Pointer(s.Arch, s.Frames[0])
	if !ok {
		return of, false
	}
	cache, err := p.storage.Specific(s.Memory, tp, p.key)
	if err != nil || cache == 0 {
		return of, false
	}
	of.globals = cache + p.offsets.globals
	if p.offsets.request != 0 {
		of.request = cache + p.offsets.request
	}
	return of, true
}
