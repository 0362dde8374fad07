package rust

import (
	"iter"

	"github.com/sfwalk/sfwalk/value"
)

// maxBuckets bounds the buckets of one hash table that are looked at.
const maxBuckets = 1 << 22

func shownHashMap(w *value.Writer, v *value.Value) *value.Shown { return hash(w, v, true) }
func shownHashSet(w *value.Writer, v *value.Value) *value.Shown { return hash(w, v, false) }

// hash shows a HashMap or HashSet: a table of hashbrown. Its control bytes say which buckets are in
// use; the buckets lie before them, in the opposite direction.
func hash(w *value.Writer, v *value.Value, isMap bool) *value.Shown {
	table, ok := v.Member("base", "table")
	if !isMap {
		if table, ok = v.Member("base", "map", "table"); !ok {
			table, ok = v.Member("map", "base", "table") // before Rust 1.48
		}
	}
	if !ok {
		return nil
	}
	inner, ok := table.Member("table")
	pair := table.Type.Strip().Argument(0)
	if !ok || pair == nil {
		return nil
	}
	number := func(name string) uint64 {
		m, has := inner.Member(name)
		n, err := m.Uint()
		ok = ok && has && err == nil
		return n
	}
	mask, n := number("bucket_mask"), number("items")
	c, has := inner.Member("ctrl")
	if !ok || !has {
		return nil
	}
	p, has := pointerOf(&c)
	ctrl, err := p.Uint()
	size, sizeKnown := pair.Strip().SizeOf()
	fields := pair.Strip().Fields()
	if !has || err != nil || !sizeKnown || len(fields) == 0 || isMap && len(fields) < 2 {
		return nil
	}
	name, hint := "HashSet", value.AsArray
	if isMap {
		name, hint = "HashMap", value.AsMap
	}
	return sized(name, n, hint, func(yield func(value.Child, error) bool) {
		left := n
		for i := range buckets(w, v, ctrl, mask) {
			if left == 0 {
				return
			}
			left--
			at := v.At(pair, ctrl-(i+1)*size)
			if !yield(value.Child{Value: at.Field(&fields[0])}, nil) || isMap && !yield(value.Child{Value: at.Field(&fields[1])}, nil) {
				return
			}
		}
	})
}

// buckets yields the numbers of the buckets in use.
func buckets(w *value.Writer, v *value.Value, ctrl, mask uint64) iter.Seq[uint64] {
	const step = 256
	return func(yield func(uint64) bool) {
		for from := uint64(0); from <= mask && from < maxBuckets; from += step {
			part := make([]byte, min(step-1, mask-from)+1)
			if !w.Spend(len(part)) || v.ReadMemory(ctrl+from, part) != nil {
				return
			}
			for i, x := range part {
				if x&0x80 == 0 && !yield(from+uint64(i)) {
					return
				}
			}
		}
	}
}
