// Package symfile has names, lines and inlined calls from a folder of Breakpad's symbol files, for programs that are
// stripped and whose debug files nobody has: a [symbol.Source]. The folder is a store as dump_syms' users lay it out,
// NAME/IDENTIFIER/NAME.sym, and a module's file is found by its name and its build ID.
package symfile

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"github.com/sfwalk/sfwalk/breakpad"
	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Store is a folder of symbol files. Its files stay open as long as their tables live.
type Store struct {
	Dir string
}

// Open returns the table of m's symbol file. It returns nil if the store has none, or if m has no build ID.
func (s Store) Open(m *target.Module) (symbol.Table, error) {
	id, err := hex.DecodeString(m.BuildID())
	if err != nil || len(id) == 0 {
		return nil, nil
	}
	want := breakpad.Module{Name: path.Base(m.Path), ID: breakpad.BuildIDIdentifier(id)}
	inside, err := want.StorePath()
	if err != nil {
		return nil, nil // no file can have that name
	}
	name := filepath.Join(s.Dir, filepath.FromSlash(inside))
	file, err := regular.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	symbols, err := breakpad.New(file, info.Size())
	if err == nil && symbols.Module.ID != want.ID {
		err = fmt.Errorf("it has the symbols of %s", symbols.Module.ID)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("symbols %s: %w", name, err)
	}
	im, bias, err := m.Image()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &table{name: name, symbols: symbols, base: bias + loadAddress(im)}, nil
}

// loadAddress returns the link-time address that symbol files count from: that of the file's first byte.
func loadAddress(im *elfimage.Image) uint64 {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return p.Vaddr
		}
	}
	return 0
}

// table is the symbol file of one module.
type table struct {
	name    string
	symbols *breakpad.File
	base    uint64 // the run-time address that the file counts from

	mu     sync.Mutex
	failed []error // of look-ups, the first few
}

// maxFailed bounds the errors of look-ups that are kept.
const maxFailed = 8

// Locate implements [symbol.Table].
func (t *table) Locate(pc uint64) []symbol.Location {
	found, err := t.symbols.Locate(pc - t.base)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.failed) < maxFailed {
			t.failed = append(t.failed, fmt.Errorf("symbols %s: %w", t.name, err))
		}
		return nil
	}
	chain := make([]symbol.Location, len(found))
	for i, l := range found {
		start := l.Code.Address + t.base
		chain[i] = symbol.Location{Function: l.Function, Start: start, Offset: pc - start, File: l.File, Line: l.Line, Inline: l.Inlined}
		if l.Code.Size > 0 {
			chain[i].End = start + l.Code.Size
		}
	}
	return chain
}

// Warnings implements [symbol.Table].
func (t *table) Warnings() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []error
	for _, err := range t.symbols.Warnings {
		all = append(all, fmt.Errorf("symbols %s: %w", t.name, err))
	}
	return append(all, t.failed...)
}
