package breakpad

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// CFI are the STACK CFI records of a range of code.
type CFI struct {
	StackCFIInit
	Changes []StackCFI // by address
}

// Rules are the rules of STACK CFI records that hold at the code of a range.
type Rules struct {
	Code Range
	List []Rule // by the order in which the registers appear
}

// CFI returns the STACK CFI records of the code around addr, nil if there are none. The changes up
// to addr count. Others may get the same records: they are to be read only.
func (f *File) CFI(addr uint64) (*CFI, error) {
	return checked(f, func(t *tables) (*CFI, error) {
		c, err := f.cfiOf(t, addr)
		if c == nil {
			return nil, err
		}
		return &c.CFI, nil
	})
}

// NextCFI returns the first address above addr at which a STACK CFI INIT record begins; ok is false
// if there is none.
func (f *File) NextCFI(addr uint64) (next uint64, ok bool) {
	t := f.tables.Load()
	if i := t.cfi.above(addr); i < t.cfi.len() {
		return t.cfi.at(i).Address, true
	}
	return 0, false
}

// RulesAt returns the rules that hold at addr; nil if there are no STACK CFI records for it. Others
// may get the same rules: they are to be read only.
func (f *File) RulesAt(addr uint64) (*Rules, error) {
	t := f.tables.Load()
	if rules, ok := t.ruled.get(addr); ok {
		return rules, nil
	}
	rules, err := checked(f, func(t *tables) (*Rules, error) {
		c, err := f.cfiOf(t, addr)
		if c == nil {
			return nil, err
		}
		return c.rulesAt(addr)
	})
	if err == nil && rules != nil {
		size := int(unsafe.Sizeof(*rules))
		for i := range rules.List {
			size += int(unsafe.Sizeof(rules.List[i])) + len(rules.List[i].Register)
			for _, op := range rules.List[i].Expr.ops {
				size += int(unsafe.Sizeof(op)) + len(op.register)
			}
		}
		t.ruled.put(addr, rules, size, maxRuled)
	}
	return rules, err
}

// RulesAt returns the rules that hold at addr, by the order in which the registers appear: the
// rules of the STACK CFI INIT, and of each change up to addr. ("STACK CFI records")
func (c *CFI) RulesAt(addr uint64) ([]Rule, error) {
	rules, err := indexCFI(*c).rulesAt(addr)
	if err != nil {
		return nil, err
	}
	return rules.List, nil
}

// indexedCFI are STACK CFI records whose rules are compiled.
type indexedCFI struct {
	CFI
	err       error     // why there are none
	registers []history // by the order in which they appear
	bad       error     // of the first that is malformed
	badFrom   uint64    // no rules are known from there on
	size      int       // of the memory that it takes, bytes
}

// history are the rules of a register.
type history struct {
	register string
	list     []ruleFrom // by address
}

// ruleFrom is a rule that holds from an address on.
type ruleFrom struct {
	addr uint64
	expr Expr
}

// maxRegisters bounds the registers that have rules in one function. No processor has more.
const maxRegisters = 256

// cfiOf returns the records around addr, nil if there are none. They are parsed once, as long as
// not too many others are.
func (f *File) cfiOf(t *tables, addr uint64) (*indexedCFI, error) {
	p, ok := t.cfi.find(addr)
	if !ok {
		return nil, nil
	}
	c, ok := t.cfis.get(uint64(p.offset))
	if !ok {
		c = f.parseCFI(p)
		t.cfis.put(uint64(p.offset), c, c.size, maxParsed)
	}
	if c.err != nil {
		return nil, c.err
	}
	return c, nil
}

func (f *File) parseCFI(p place) *indexedCFI {
	var cfi CFI
	kept := 0
	err := f.from(p.offset, func(line []byte) (more bool, err error) {
		k := kindOf(line)
		if k != kindCFI && cfi.Size != 0 {
			return false, nil
		}
		record, err := ParseRecord(line)
		switch record := record.(type) {
		case StackCFIInit:
			cfi.StackCFIInit = record
		case StackCFI:
			if kept += int(unsafe.Sizeof(record)) + len(record.Rules); kept > maxBelonging {
				return false, fmt.Errorf("STACK CFI INIT %x has more than %d changes", cfi.Address, len(cfi.Changes))
			}
			cfi.Changes = append(cfi.Changes, record)
		}
		return true, err
	})
	if err == nil && (cfi.Address != p.Address || cfi.Size != p.Size) {
		err = errChanged
	}
	if err != nil {
		return &indexedCFI{err: err, size: recordSize}
	}
	slices.SortStableFunc(cfi.Changes, func(a, b StackCFI) int { return cmp.Compare(a.Address, b.Address) })
	return indexCFI(cfi)
}

// indexCFI compiles the rules.
func indexCFI(cfi CFI) *indexedCFI {
	c := &indexedCFI{CFI: cfi, size: int(unsafe.Sizeof(indexedCFI{})) + len(cfi.Rules)}
	index := make(map[string]int)
	add := func(from uint64, text string) error {
		rules, err := ParseRules(text)
		for _, r := range rules {
			i, ok := index[r.Register]
			if !ok {
				if i = len(c.registers); i == maxRegisters {
					return fmt.Errorf("more than %d registers", maxRegisters)
				}
				index[r.Register] = i
				c.registers = append(c.registers, history{register: r.Register})
			}
			c.registers[i].list = append(c.registers[i].list, ruleFrom{from, r.Expr})
			c.size += int(unsafe.Sizeof(ruleFrom{})) + cap(r.Expr.ops)*int(unsafe.Sizeof(operation{}))
		}
		return err
	}
	if err := add(0, cfi.Rules); err != nil {
		c.bad = fmt.Errorf("STACK CFI INIT %x: %w", c.Address, err)
		return c
	}
	for i := range cfi.Changes {
		change := &cfi.Changes[i]
		c.size += int(unsafe.Sizeof(*change)) + len(change.Rules)
		if c.bad != nil {
			continue
		}
		if err := add(change.Address, change.Rules); err != nil {
			c.bad, c.badFrom = fmt.Errorf("STACK CFI %x: %w", change.Address, err), change.Address
		}
	}
	return c
}

func (c *indexedCFI) rulesAt(addr uint64) (*Rules, error) {
	if c.bad != nil && addr >= c.badFrom {
		return nil, c.bad
	}
	rules := &Rules{Code: c.around(addr)}
	for i := range c.registers {
		h := &c.registers[i]
		n := sort.Search(len(h.list), func(i int) bool { return h.list[i].addr > addr })
		if n == 0 {
			break // this one and all behind it appear later
		}
		rules.List = append(rules.List, Rule{h.register, h.list[n-1].expr})
	}
	return rules, nil
}

// around returns the range around addr at which the rules of addr hold.
func (c *CFI) around(addr uint64) Range {
	lo, hi := c.Address, c.Address+c.Size
	n := sort.Search(len(c.Changes), func(i int) bool { return c.Changes[i].Address > addr })
	if n < len(c.Changes) {
		hi = min(hi, c.Changes[n].Address)
	}
	if n > 0 {
		lo = max(lo, c.Changes[n-1].Address)
	}
	return Range{lo, hi - lo}
}
