package value

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// TestKeptScopes: of addresses in one function of thousands of entries, each of which has all of
// these, few are kept.
func TestKeptScopes(t *testing.T) {
	const (
		code    = uint64(0x400000)
		size    = 0x1000
		entries = 4000
	)
	order := binary.LittleEndian
	// DWARF 4: a unit and a function, both with that code, and variables.
	abbrevs := []byte{1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0, 2, 0x2e, 1, 0x11, 0x01, 0x12, 0x06, 0, 0, 3, 0x34, 0, 0x03, 0x08, 0, 0, 0}
	info := []byte{4, 0, 0, 0, 0, 0, 8}
	for _, abbrev := range []byte{1, 2} {
		info = order.AppendUint32(order.AppendUint64(append(info, abbrev), code), size)
	}
	info = append(append(info, bytes.Repeat([]byte("\x03the name of a variable of the usual length\x00"), entries)...), 0, 0)
	f := &elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_EXEC, Sections: []elftest.Section{
		{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: code, Data: make([]byte, size)},
		{Name: ".debug_info", Data: append(order.AppendUint32(nil, uint32(len(info))), info...)}, {Name: ".debug_abbrev", Data: abbrevs},
	}}
	data := f.Bytes()
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m := target.NewModule("/program", []target.Mapping{{Hi: 1 << 40, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	_, bias, err := m.Image()
	if err != nil {
		t.Fatal(err)
	}
	symbols := symbol.New(symbol.Options{DebugDirs: []string{}})
	defer symbols.Close()
	r := &Reader{Symbols: symbols, Modules: target.NewModules([]*target.Module{m}, nil), scopes: map[uint64]*scopes{}}
	for i := range uint64(500) {
		s := r.at(code + bias + i)
		if s.err != nil || len(s.list) != 1 || len(s.list[0].Entries) != entries {
			t.Fatalf("%d scopes, %v", len(s.list), s.err)
		}
		kept := 0
		for _, s := range r.scopes {
			kept += len(s.list[0].Entries)
		}
		if kept > maxEntries || r.scopes[code+bias+i] != s {
			t.Fatalf("%d entries are kept", kept)
		}
	}
}
