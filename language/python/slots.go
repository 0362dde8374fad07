package python

// slot is an attribute of which the objects of a class have a word of their own: the class names it
// in __slots__.
type slot struct {
	key    uint64 // its name, a string
	offset uint64
}

// Bounds of the slots of one class, and of where they lie in its objects, bytes.
const (
	mostSlotsOfClass = 1 << 10
	maxSlot          = 1 << 16
)

// slotsIn returns the slots that the dictionary of a class has: what cannot be read is left out.
func (o *objects) slotsIn(dict uint64) (list []slot) {
	// PyMemberDescrObject: the class, the name, the qualified name, and a PyMemberDef: the name as
	// a string of C, its type, an int, and the offset. These are the same in all releases.
	const key, definition = 1, 3
	const objectOrNone = 16 // T_OBJECT_EX
	size := uint64(o.size)
	_ = o.each(dict, func(_, value uint64) bool {
		if c, err := o.typeOf(value); err != nil || c.name != "member_descriptor" {
			return true
		}
		words, err := o.words(value+o.head(), definition+1)
		if err != nil {
			return true
		}
		kind, err := o.int32(words[definition] + size)
		if err != nil || kind != objectOrNone {
			return true
		}
		offset, err := o.word(words[definition] + 2*size)
		if err == nil && offset >= o.head() && offset < maxSlot {
			list = append(list, slot{words[key], offset})
		}
		return len(list) < mostSlotsOfClass
	})
	return list
}

// eachSlot calls do with the attributes that an object has in slots, until it returns false. It
// reports whether do never did.
func (o *objects) eachSlot(object uint64, c *class, do func(key, value uint64) bool) (more bool, err error) {
	for _, s := range c.slots {
		value, err := o.word(object + s.offset)
		if err != nil {
			return false, err
		}
		if value != 0 && !do(s.key, value) {
			return false, nil
		}
	}
	return true, nil
}
