// Package symbolstore finds the symbol files of modules in a folder of Breakpad's symbol files,
// which its users lay out as NAME/IDENTIFIER/NAME.sym: by a module's name and its build ID, or a
// sum of its code. Names and rows come from one opened file.
package symbolstore

import (
	"cmp"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/format/breakpad"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Symbols are the symbols of one module.
type Symbols struct {
	*breakpad.File
	Path string // of the symbol file
	Base uint64 // the run-time address that the file counts from

	shared *shared // keeps the file shared
}

type key struct{ dirs string }

type answer struct {
	symbols *Symbols
	err     error
}

// Open returns the symbols of m in the first store that has some. dirs are the stores' folders,
// listed as in PATH. It returns nil if none has. The file is opened once, also for several targets,
// and stays open as long as one of their modules lives.
func Open(dirs string, m *target.Module) (*Symbols, error) {
	a := m.Memo(key{dirs}, func() any {
		var a answer
		for _, dir := range filepath.SplitList(dirs) {
			symbols, err := open(dir, m)
			if symbols != nil {
				return answer{symbols, nil}
			}
			a.err = cmp.Or(a.err, err)
		}
		return a
	}).(answer)
	return a.symbols, a.err
}

// Wanted returns the name and the identifier under which stores have m's symbols. ok is false if
// they are not known.
func Wanted(m *target.Module) (want breakpad.Module, ok bool) {
	want, _, err := identify(m)
	return want, err == nil && strings.Trim(want.ID, "0") != ""
}

func open(dir string, m *target.Module) (*Symbols, error) {
	want, base, err := identify(m)
	if err != nil {
		return nil, nil
	}
	inside, err := want.StorePath()
	if err != nil {
		return nil, nil // no file can have that name
	}
	name := filepath.Join(dir, filepath.FromSlash(inside))
	file, err := openShared(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && file.file.Module.ID != want.ID {
		err = fmt.Errorf("it has the symbols of %s", file.file.Module.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("symbols %s: %w", name, err)
	}
	return &Symbols{File: file.file, Path: name, Base: base, shared: file}, nil
}

// identify returns the name and the identifier of m's symbols, and the run-time address that they
// count from.
func identify(m *target.Module) (want breakpad.Module, base uint64, err error) {
	if id := m.Identity; id != nil {
		return breakpad.Module{Name: id.DebugFile, ID: id.DebugID}, id.Base, nil
	}
	im, bias, err := m.Image()
	if err != nil {
		return want, 0, err
	}
	id, err := Identifier(im)
	name := path.Base(m.Path)
	if name == "[vdso]" {
		name = "linux-gate.so" // as Breakpad has it
	}
	return breakpad.Module{Name: name, ID: id}, bias + loadAddress(im), err
}

// Identifier returns the identifier of an ELF file's symbols: by its build ID, or by its code if it
// has none.
func Identifier(im *elfimage.Image) (string, error) {
	if id, err := hex.DecodeString(im.BuildID); err == nil && len(id) > 0 {
		return breakpad.BuildIDIdentifier(id), nil
	}
	s, file := im.ELF().Section(".text"), im.File()
	if s == nil || s.Type != elf.SHT_PROGBITS || s.Size == 0 || file == nil {
		return "", errNoIdentity
	}
	text := make([]byte, breakpad.TextBytes(s.Size))
	if n, err := file.ReadAt(text, int64(s.Offset)); n < len(text) {
		return "", err
	}
	return breakpad.TextIdentifier(text), nil
}

var errNoIdentity = errors.New("it has neither a build ID nor code")

// loadAddress returns the link-time address that symbol files count from: the address of the file's
// first byte.
func loadAddress(im *elfimage.Image) uint64 {
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return p.Vaddr
		}
	}
	return 0
}
