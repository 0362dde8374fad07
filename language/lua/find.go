package lua

import (
	"encoding/binary"
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/coroutines"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds Lua's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "lua" }

// large is how large a file is at least that may have Lua in it and not in its name, bytes.
const large = 2 << 20

// Wants implements [language.Chooser]: Lua's libraries are small, and so are programs that have it
// in them. A library is known by its name, for to open all of them takes longer than all the rest.
func (Decorator) Wants(m *target.Module) bool {
	return m.Hi()-m.Lo() >= large || isLuas(m) || !strings.Contains(path.Base(m.Path), ".so")
}

// isLuas reports whether a file has nothing but Lua in it, by its name.
func isLuas(m *target.Module) bool { return strings.Contains(path.Base(m.Path), "lua") }

var identity = elf.Seldom("lua_ident")

// release is how lua_ident tells the release: "$LuaVersion: Lua 5.4.4  Copyright", and of 5.1
// "$Lua: Lua 5.1.5 Copyright".
var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Lua 5\.(\d)(?:\.(\d+))?`) })

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(identity) { // it is said elsewhere that a file cannot be read
		return nil, nil
	}
	found := im.Lookup(identity, 1)
	if len(found) == 0 {
		return nil, nil // the file uses Lua, and has it not
	}
	text := make([]byte, 100)
	text = text[:im.ReadLoaded(found[0].Addr, text)]
	of := release().FindSubmatch(text)
	if of == nil {
		return nil, errors.New("nothing tells the release of Lua")
	}
	if p.Arch.PtrSize != 8 || p.Arch.Order != binary.ByteOrder(binary.LittleEndian) {
		return nil, errors.New("the structures of Lua are known of 64-bit little-endian processors alone")
	}
	minor, _ := strconv.Atoi(string(of[1]))
	patch, _ := strconv.Atoi(string(of[2]))
	l, err := layoutOf(minor, patch)
	if err != nil {
		return nil, err
	}
	return []language.Runtime{&runtime{
		arch: p.Arch, module: m, image: im, bias: bias, layout: l, modules: p.Modules, threads: p.Threads, writable: p.Writable,
	}}, nil
}

// runtime is Lua in a process.
type runtime struct {
	arch   *arch.Arch
	module *target.Module
	image  *elf.Image
	bias   uint64
	layout *layout

	modules  *target.Modules
	threads  func() ([]target.Thread, error) // nil where nobody knows them
	writable func() []target.Mapping         // as well

	main     coroutines.Mains // for tasks
	executes atomic.Uint64    // where the function that executes Lua's code begins; 0 while that is not known
	pages    pages.Spare
}
