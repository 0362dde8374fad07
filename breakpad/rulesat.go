package breakpad

import "fmt"

// Rules are the rules of STACK CFI records that hold at the code of a range.
type Rules struct {
	Code Range
	List []Rule // by the order in which the registers appear
}

// RulesAt returns the rules that hold at addr; nil if there are no STACK CFI records for it. Others may get the same rules: they are to be read only.
func (f *File) RulesAt(addr uint64) (*Rules, error) {
	t := f.tables.Load()
	if rules, ok := t.ruled.get(addr); ok {
		return rules, nil
	}
	cfi, err := f.CFI(addr)
	if cfi == nil || err != nil {
		return nil, err
	}
	list, err := cfi.RulesAt(addr)
	if err != nil {
		return nil, err
	}
	text := len(cfi.Rules)
	for i := range cfi.Changes {
		text += len(cfi.Changes[i].Rules)
	}
	rules := &Rules{cfi.around(addr), list}
	t.ruled.put(addr, rules, text)
	return rules, nil
}

// around returns the range around addr at which the rules of addr hold.
func (c *CFI) around(addr uint64) Range {
	lo, hi := c.Address, c.Address+c.Size
	for _, change := range c.Changes {
		if change.Address > addr {
			hi = min(hi, change.Address)
			break
		}
		lo = max(lo, change.Address)
	}
	return Range{lo, hi - lo}
}

// RulesAt returns the rules that hold at addr, by the order in which the registers appear: those of the STACK CFI INIT,
// and of each change up to addr. ("STACK CFI records")
func (c *CFI) RulesAt(addr uint64) ([]Rule, error) {
	var rules []Rule
	index := make(map[string]int)
	merge := func(text string) error {
		changed, err := ParseRules(text)
		for _, r := range changed {
			i, ok := index[r.Register]
			if !ok {
				i = len(rules)
				index[r.Register] = i
				rules = append(rules, r)
			}
			rules[i] = r
		}
		return err
	}
	if err := merge(c.Rules); err != nil {
		return nil, fmt.Errorf("STACK CFI INIT %x: %w", c.Address, err)
	}
	for _, change := range c.Changes {
		if change.Address > addr {
			break
		}
		if err := merge(change.Rules); err != nil {
			return nil, fmt.Errorf("STACK CFI %x: %w", change.Address, err)
		}
	}
	return rules, nil
}
