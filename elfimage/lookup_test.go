package elfimage

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"
)

// Names lead to the addresses that readelf shows for them.
func TestLookup(t *testing.T) {
	for _, name := range realFiles(t) {
		addresses := make(map[string]map[uint64]bool)
		for line := range strings.Lines(output(t, "readelf", "--wide", "--syms", "--dyn-syms", name)) {
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
			if _, is := addresses[symbol+"?"]; !is && im.Lookup(symbol+"?", 1) != nil {
				t.Errorf("%s: there is a %s?", name, symbol)
			}
		}
	}
}
