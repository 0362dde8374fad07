package target

import (
	"slices"
	"sync/atomic"
)

// memos are what was made once, by a key.
type memos struct{ list atomic.Pointer[[]memo] }

type memo struct{ key, value any }

func (m *memos) get(key any, build func() any) any {
	// There are a handful of keys, and each look-up of a row asks for one: a list
	// that is never changed, but replaced, is the quickest to look through.
	if p := m.list.Load(); p != nil {
		for i := range *p {
			if (*p)[i].key == key {
				return (*p)[i].value
			}
		}
	}
	value := build()
	for {
		p := m.list.Load()
		var list []memo
		if p != nil {
			for _, x := range *p {
				if x.key == key {
					return x.value
				}
			}
			list = *p
		}
		list = append(slices.Clip(list), memo{key, value})
		if m.list.CompareAndSwap(p, &list) {
			return value
		}
	}
}
