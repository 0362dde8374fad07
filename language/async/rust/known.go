package rust

import "github.com/sfwalk/sfwalk/value"

const (
	localSetName  = "tokio::task::local::LocalSet"
	unorderedName = "futures_util::stream::futures_unordered::FuturesUnordered"
)

// listed is how a set of futures lists them.
type listed struct {
	heads  []uint64 // offsets of pointers to the first entries, in what holds them
	holder uint64   // offset of the pointer to what holds the heads; with arc
	arc    bool     // heads are behind that pointer
	next   uint64   // offset of the pointer to the next entry, in an entry
	item   uint64   // offset of the future in an entry
	typ    *value.Type
}

// known returns the shape of a type of a library that keeps futures otherwise than in its members;
// nil if it is none. name has no generic arguments.
func (r *program) known(t *value.Type, name string) *shape {
	s := &shape{name: name}
	switch name {
	case "tokio::runtime::task::join::JoinHandle":
		raw, ok := within(t, "tokio::runtime::task::raw::RawTask")
		if !ok {
			return nil
		}
		p, ok := pointee(raw.typ)
		if !ok {
			return nil
		}
		s.way, s.parts = byTask, []part{{offset: raw.offset + p.offset}}
	case taskName:
		p, ok := pointee(t)
		if !ok {
			return nil
		}
		s.way, s.parts = byAsyncTask, []part{{offset: p.offset}}
	case localSetName:
		s.way = byLocalSet
		p, ok := pointee(t)
		if !ok {
			return nil
		}
		s.to, s.parts = p.typ, []part{{offset: p.offset}}
		if _, ok := ownedBy(p.typ); !ok { // before tokio 1.29, the list is behind another pointer
			shared, ok := member(p.typ, "shared")
			if !ok {
				return nil
			}
			if p, ok = pointee(shared.typ); !ok {
				return nil
			}
			s.to, s.parts = p.typ, append(s.parts, part{offset: shared.offset + p.offset})
		}
	case "tokio::sync::batch_semaphore::Acquire":
		p, ok := member(t, "semaphore")
		if !ok {
			return nil
		}
		s.way, s.lock = byLock, p.offset
	case unorderedName:
		return unordered(s, t)
	case "tokio::util::idle_notified_set::IdleNotifiedSet":
		return idleNotified(s, t)
	default:
		return nil
	}
	return s
}

// unordered is a FuturesUnordered of the crate futures: its entries are linked by next_all.
func unordered(s *shape, t *value.Type) *shape {
	head, ok := member(t, "head_all")
	if !ok {
		return nil
	}
	to, ok := pointee(head.typ)
	if !ok {
		return nil
	}
	next, ok1 := member(to.typ, "next_all")
	item, ok2 := member(to.typ, "future")
	if !ok1 || !ok2 {
		return nil
	}
	s.way = byList
	s.list = listed{heads: []uint64{head.offset + to.offset}, next: next.offset, item: item.offset, typ: item.typ}
	return s
}

// idleNotified is what a JoinSet of tokio's keeps its handles in: two lists of entries.
func idleNotified(s *shape, t *value.Type) *shape {
	lists, ok := member(t, "lists")
	if !ok {
		return nil
	}
	to, ok := pointee(lists.typ)
	if !ok {
		return nil
	}
	s.way = byList
	s.list = listed{holder: lists.offset + to.offset, arc: true}
	for _, name := range [...]string{"notified", "idle"} {
		list, ok := member(to.typ, name)
		if !ok {
			return nil
		}
		head, ok := member(list.typ, "head")
		if !ok {
			return nil
		}
		entry, ok := pointee(head.typ)
		if !ok {
			return nil
		}
		s.list.heads = append(s.list.heads, list.offset+head.offset+entry.offset)
		links, ok1 := member(entry.typ, "next")
		item, ok2 := member(entry.typ, "value")
		if !ok1 || !ok2 {
			return nil
		}
		s.list.next, s.list.item, s.list.typ = links.offset, item.offset, item.typ
	}
	return s
}
