package symbol

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// linkSlot is an entry of the global offset table that a stub jumps through. GDB shows it as
// "printf@got.plt".
type linkSlot struct {
	addr uint64
	name uint32 // offset in the string table
}

// linkSlots are a file's slots, in ascending order.
type linkSlots struct {
	names []byte // string table
	list  []linkSlot
}

// readLinkSlots returns the slots of a file whose relocations belong to its procedure linkage
// table; nil if there are none.
func readLinkSlots(im *elfimage.Image) *linkSlots {
	a := arch.ByMachine(im.Machine, im.Order)
	if a == nil || im.Class != a.Class() {
		return nil
	}
	if _, _, err := im.Section(".got.plt", ".got"); err != nil {
		return nil
	}
	symbols, _, err := im.SectionType(elf.SHT_DYNSYM)
	if err != nil {
		return nil
	}
	names, _, err := im.Section(".dynstr")
	if err != nil {
		return nil
	}
	var list []linkSlot
	symbolSize := symbolSizes[im.Class]
	for _, section := range []string{".rela.plt", ".rel.plt"} {
		relocations, _, err := im.Section(section)
		if err != nil {
			continue
		}
		for r := range im.Relocations(relocations, section == ".rela.plt") {
			n := int(r.Symbol)
			if r.Type != a.Relocations.JumpSlot || n <= 0 || n >= len(symbols)/symbolSize {
				continue
			}
			list = append(list, linkSlot{r.Addr, a.Order.Uint32(symbols[n*symbolSize:])})
		}
	}
	slices.SortFunc(list, func(x, y linkSlot) int { return cmp.Compare(x.addr, y.addr) })
	return &linkSlots{names, list}
}

// linkSlot returns the name of the slot that holds a link-time address, and where it begins.
func (mod *elfModule) linkSlot(addr uint64) (name string, start uint64, ok bool) {
	mod.slotsRead.Do(func() { mod.slots = readLinkSlots(mod.image) })
	if mod.slots == nil {
		return "", 0, false
	}
	list := mod.slots.list
	i, exact := slices.BinarySearchFunc(list, addr, func(s linkSlot, addr uint64) int { return cmp.Compare(s.addr, addr) })
	if !exact {
		i--
	}
	if i < 0 || addr-list[i].addr >= mod.image.WordSize() {
		return "", 0, false
	}
	name, ok = stringAt(mod.slots.names, uint64(list[i].name))
	if !ok || name == "" || len(name) > maxName {
		return "", 0, false
	}
	return name + "@got.plt", list[i].addr, true
}
