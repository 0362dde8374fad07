package elf

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// defined returns the addresses of the symbols that are in readelf's output, by name.
func defined(out string) map[string]map[uint64]bool {
	addresses := make(map[string]map[uint64]bool)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 8 || f[6] == "UND" || f[3] != "FUNC" && f[3] != "IFUNC" && f[3] != "OBJECT" && f[3] != "NOTYPE" {
			continue
		}
		var addr uint64
		fmt.Sscanf(f[1], "%x", &addr)
		symbol, _, _ := strings.Cut(strings.Join(f[7:], " "), "@")
		if addresses[symbol] == nil {
			addresses[symbol] = make(map[uint64]bool)
		}
		addresses[symbol][addr] = true
	}
	return addresses
}

// Names lead to the addresses that readelf shows for them.
func TestLookup(t *testing.T) {
	for _, name := range realFiles(t) {
		addresses := defined(output(t, "readelf", "--wide", "--syms", "--dyn-syms", name))
		exported := defined(output(t, "readelf", "--wide", "--dyn-syms", name))
		im := openFile(t, name)
		n := 0
		for symbol, want := range addresses {
			if n++; n > 200 {
				break
			}
			found := im.Lookup(symbol, 1000)
			for _, s := range found {
				if !want[s.Addr] {
					t.Errorf("%s: %s is found at %#x, readelf has %v", name, symbol, s.Addr, want)
				}
			}
			if len(found) < len(want) {
				t.Errorf("%s: %s is found %d times, readelf has %v", name, symbol, len(found), want)
			}
			if one := im.Lookup(symbol, 1); len(one) != 1 {
				t.Errorf("%s: %s is found %d times where one is asked for", name, symbol, len(one))
			}
			for _, s := range found {
				if function := s.Type == elf.STT_FUNC && s.Addr != 0; function && !im.Symbols().Begins(s.Addr, symbol) || im.Symbols().Begins(s.Addr, symbol+"?") {
					t.Errorf("%s: %s is said not to begin at %#x, or what is not there is", name, symbol, s.Addr)
				}
			}
			if !im.MayHaveSymbol(symbol) || im.MayHaveSymbol(symbol+"?") {
				t.Errorf("%s: %s is mentioned %v", name, symbol, im.MayHaveSymbol(symbol))
			}
			if s, is := im.LookupExported(symbol, 1<<20)[symbol]; len(exported) > 0 && (is != (exported[symbol] != nil) || is && !exported[symbol][s.Addr]) {
				t.Errorf("%s: %s is exported at %#x (%v), readelf has %v", name, symbol, s.Addr, is, exported[symbol])
			}
			if s, is := im.Exported(symbol); is != (exported[symbol] != nil) || is && !exported[symbol][s.Addr] {
				t.Errorf("%s: the exported %s is at %#x (%v), readelf has %v", name, symbol, s.Addr, is, exported[symbol])
			}
			if _, is := addresses[symbol+"?"]; !is && im.Lookup(symbol+"?", 1) != nil {
				t.Errorf("%s: there is a %s?", name, symbol)
			}
		}
	}
}

// Symbols of old versions are the symbols that debug/elf calls hidden.
func TestOldVersions(t *testing.T) {
	name := gdbtest.File(t, libc)
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	type version struct {
		addr uint64
		old  bool
	}
	want, old := make(map[string][]version), 0
	for _, s := range list {
		if typ := elf.ST_TYPE(s.Info); s.Section != elf.SHN_UNDEF && isCodeOrData(typ) {
			v := version{s.Value, s.VersionIndex.IsHidden()}
			if !slices.Contains(want[s.Name], v) {
				want[s.Name] = append(want[s.Name], v)
			}
			if v.old {
				old++
			}
		}
	}
	im := openFile(t, name)
	for name, versions := range want {
		var got []version
		for _, s := range im.Lookup(name, 99) {
			if v := (version{s.Addr, s.Old}); !slices.Contains(got, v) {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, versions) {
			t.Errorf("%s: %+v; want %+v", name, got, versions)
		}
	}
	if old < 10 {
		t.Errorf("%d old symbols: nothing is tested", old)
	}
}
