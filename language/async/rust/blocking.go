package rust

import "github.com/sfwalk/sfwalk/value"

// Names of tokio's types that have the queue of spawn_blocking (tokio's runtime/blocking/pool.rs).
const (
	spawnerName = "tokio::runtime::blocking::pool::Spawner"
	implName    = "tokio::runtime::blocking::pool::InnerImpl" // from 1.54 on; kinds of queues
	queueName   = "alloc::collections::vec_deque::VecDeque"
	rawTaskName = "tokio::runtime::task::raw::RawTask"
	workerScope = "tokio::runtime::scheduler::" // of the functions of a scheduler's threads, which are such tasks, too
)

// Bounds of queues.
const (
	mostQueues = 1 << 10
	mostQueued = 1 << 20
)

// pool says where a scheduler has the tasks of spawn_blocking that no thread has begun.
type pool struct {
	to     uint64 // offset of the pointer to the pool in the scheduler's handle
	kind   choice // which of the kinds of queues there is; no cases if there is but one
	queues [][]uint64
	deque  deque
}

// deque is how a VecDeque of tasks lies in memory.
type deque struct {
	data, capacity uint64 // offsets of the pointer to the elements, and of how many have room
	first          uint64 // offset of the index of the first one
	last           uint64 // offset of how many there are; of the index behind the last one if masked
	masked         bool   // the library before rustc 1.67
	size           uint64 // bytes of an element
	task           uint64 // offset of the pointer to the task in an element
}

// poolOf lays out the pool of a scheduler by the type of its handle; nil if that has none.
func poolOf(handle *value.Type) *pool {
	spawner, ok := within(handle, spawnerName)
	if !ok {
		return nil
	}
	inner, ok := pointee(spawner.typ)
	if !ok {
		return nil
	}
	p := &pool{to: spawner.offset + inner.offset}
	impl, ok := within(inner.typ, implName)
	if !ok {
		list := p.queuesIn(inner.typ, 0)
		if len(list) == 0 {
			return nil
		}
		p.queues = [][]uint64{list}
		return p
	}
	d, cases, ok := impl.typ.VariantCases()
	if !ok {
		return nil
	}
	if d != nil {
		size, _ := d.Type.SizeOf()
		p.kind.offset, p.kind.size = impl.offset+uint64(d.Offset), int(size)
	}
	for _, c := range cases {
		var list []uint64
		for i := range c.Fields {
			list = append(list, p.queuesIn(c.Fields[i].Type, impl.offset+uint64(c.Fields[i].Offset))...)
		}
		p.kind.cases = append(p.kind.cases, variant{labels: c.Labels})
		p.queues = append(p.queues, list)
	}
	return p
}

// queuesIn returns the offsets of the queues within a type that begins at an offset: of one, or of
// those in an array.
func (p *pool) queuesIn(t *value.Type, at uint64) (list []uint64) {
	if q, ok := within(t, queueName); ok && p.lay(q.typ) {
		return []uint64{at + q.offset}
	}
	array, ok := search(t, func(t *value.Type) bool { return t.Kind == value.Array })
	if !ok {
		return nil
	}
	elem := array.typ.Elem().Strip()
	q, ok := within(elem, queueName)
	each, ok1 := elem.SizeOf()
	all, ok2 := array.typ.SizeOf()
	if !ok || !ok1 || !ok2 || each == 0 || all/each > mostQueues || !p.lay(q.typ) {
		return nil
	}
	for i := range all / each {
		list = append(list, at+array.offset+i*each+q.offset)
	}
	return list
}

// lay works out the layout of the queues; ok is false if they are not of tasks.
func (p *pool) lay(t *value.Type) (ok bool) {
	args := t.TemplateArguments()
	if len(args) == 0 || args[0].Type == nil {
		return false
	}
	elem := args[0].Type.Strip()
	raw, ok := within(elem, rawTaskName)
	if !ok {
		return false
	}
	to, ok := pointee(raw.typ)
	if !ok {
		return false
	}
	buf, ok := member(t, "buf")
	if !ok {
		return false
	}
	ptr, ok1 := pointee(buf.typ)
	capacity, ok2 := member(buf.typ, "cap")
	head, ok3 := member(t, "head")
	size, ok4 := elem.SizeOf()
	if !ok1 || !ok2 || !ok3 || !ok4 || size == 0 {
		return false
	}
	d := deque{data: buf.offset + ptr.offset, capacity: buf.offset + capacity.offset, first: head.offset, size: size, task: raw.offset + to.offset}
	if n, ok := member(t, "len"); ok {
		d.last = n.offset
	} else if tail, ok := member(t, "tail"); ok { // which was the first one's name
		d.first, d.last, d.masked = tail.offset, head.offset, true
	} else {
		return false
	}
	p.deque = d
	return true
}

// queued adds the tasks that wait for a thread of the pool.
func (t *tasks) queued(handle uint64, p *pool) {
	at := t.Pointer(handle + p.to)
	queues := p.queues[0]
	if k := &p.kind; len(k.cases) > 0 {
		n := uint64(0)
		if k.size > 0 {
			n = t.Uint(at+k.offset, k.size)
		}
		queues = nil
		for i := range k.cases {
			if k.pick(n) == &k.cases[i] {
				queues = p.queues[i]
			}
		}
	}
	d := &p.deque
	for _, q := range queues {
		q += at
		data, room := t.Pointer(q+d.data), t.Uint(q+d.capacity, 8)
		first, n := t.Uint(q+d.first, 8), t.Uint(q+d.last, 8)
		if d.masked {
			n = (n - first) & (room - 1)
		}
		if err := t.Err(); err != nil {
			t.fail("the queue of spawn_blocking: %w", err)
			return
		}
		if n > room || n > mostQueued || n > 0 && first >= room {
			t.fail("the queue of spawn_blocking has %d tasks from %d on, and room for %d", n, first, room)
			return
		}
		for i := range n {
			if !t.step() {
				return
			}
			i += first
			if i >= room {
				i -= room
			}
			task := t.Pointer(data + i*d.size + d.task)
			if _, ok := t.add(task); !ok {
				return
			}
			if i, ok := t.known[task]; ok && t.list[i].State == "ready" {
				t.list[i].State = "queued"
			}
		}
	}
}
