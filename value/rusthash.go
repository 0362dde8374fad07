package value

import "strconv"

// maxBuckets bounds the buckets of one hash table that are looked at.
const maxBuckets = 1 << 22

// rustHash writes a HashMap or HashSet: a table of hashbrown. Its control bytes say which buckets are in use; the
// buckets lie before them, in the opposite direction.
func (w *Writer) rustHash(v *Value, isMap bool) bool {
	table, ok := v.dig("base", "table")
	if !isMap {
		if table, ok = v.dig("base", "map", "table"); !ok {
			table, ok = v.dig("map", "base", "table") // before Rust 1.48
		}
	}
	if !ok {
		return false
	}
	inner, ok := table.dig("table")
	pair := table.Type.Strip().genericArgument(0)
	if !ok || pair == nil {
		return false
	}
	number := func(path ...string) uint64 {
		m, has := inner.dig(path...)
		n, err := m.number()
		ok = ok && has && err == nil
		return n
	}
	mask, n := number("bucket_mask"), number("items")
	c, has := inner.dig("ctrl")
	if !ok || !has {
		return false
	}
	p, has := c.pointerOf()
	ctrl, err := p.number()
	size, sized := pair.Strip().SizeOf()
	fields := pair.Strip().Fields()
	if !has || err != nil || !sized || len(fields) == 0 || isMap && len(fields) < 2 {
		return false
	}
	name := "HashSet"
	how := array
	if isMap {
		name, how = "HashMap", pairs
	}
	buckets := w.tableOf(v, ctrl, mask)
	left := n
	var value *Value
	w.items(name+"(size="+strconv.FormatUint(n, 10)+")", how, func() (item, bool) {
		if value != nil {
			x := *value
			value = nil
			return item{value: x}, true
		}
		if left == 0 {
			return item{}, false
		}
		left--
		i, ok := buckets()
		if !ok {
			return item{}, false
		}
		at := v.At(pair, ctrl-(i+1)*size)
		if isMap {
			x := at.Field(&fields[1])
			value = &x
		}
		return item{value: at.Field(&fields[0])}, true
	})
	return true
}

// number is Uint for a value that may not be there.
func (v *Value) number() (uint64, error) {
	if v.Type == nil {
		return 0, ErrUnavailable
	}
	return v.Uint()
}

// tableOf returns the numbers of the buckets in use, one after the other.
func (w *Writer) tableOf(v *Value, ctrl, mask uint64) func() (uint64, bool) {
	const step = 256
	var part []byte
	var from, i uint64
	return func() (uint64, bool) {
		for ; i <= mask && i < maxBuckets; i++ {
			if i >= from+uint64(len(part)) {
				from = i
				part = make([]byte, min(step-1, mask-i)+1)
				if !w.Spend(len(part)) || v.ReadMemory(ctrl+i, part) != nil {
					return 0, false
				}
			}
			if part[i-from]&0x80 == 0 {
				i++
				return i - 1, true
			}
		}
		return 0, false
	}
}
