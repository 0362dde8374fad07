package python

import (
	"errors"
	"fmt"
)

// mostSlots bounds the table of a set that is read: most of it may be empty.
const mostSlots = 1 << 21

// members calls do with the members of a set, until it returns false. A set is a table of keys with
// their hashes, in no order (Objects/setobject.c).
func (o *objects) members(set uint64, do func(key uint64) bool) error {
	if !o.layout.has(setMask, setTable, setUsed) {
		return errors.New("the layout of sets is not known")
	}
	mask, err := o.pointer(set, setMask)
	if err != nil {
		return err
	}
	table, err := o.pointer(set, setTable)
	if err != nil {
		return err
	}
	left, err := o.pointer(set, setUsed)
	if err != nil {
		return err
	}
	if mask >= mostSlots || left > mask+1 {
		return fmt.Errorf("there is no set at %#x, or one of more than %d members", set, mostSlots)
	}
	const part = 1 << 10
	for i := uint64(0); i <= mask && left > 0; i += part {
		words, err := o.words(table+i*uint64(2*o.size), int(2*min(part, mask+1-i)))
		if err != nil {
			return err
		}
		for j := 0; j < len(words) && left > 0; j += 2 {
			if words[j] == 0 || words[j+1] == ^uint64(0) { // none, or one that was removed, whose hash is -1
				continue
			}
			left--
			if !do(words[j]) {
				return nil
			}
		}
	}
	return nil
}
