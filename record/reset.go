package record

// reset forgets what was counted so far. Processes, and threads that are away from their
// processors, stay as they are. Profiles that were taken before have the old tree.
func (e *engine) reset() {
	old, list := e.tree, e.list
	e.tree, e.stats, e.unsure, e.unsureFrames = newTree(), Stats{Processors: e.stats.Processors}, nil, 0
	e.others, e.brief = 0, 0
	e.list, e.threads, e.indices = nil, map[int32]uint32{}, map[Thread]uint32{}
	clear(e.bares)
	for _, s := range e.spaces {
		clear(s.places[:])
	}
	for tid, a := range e.offCPU {
		if !a.off {
			e.dropOffCPU(tid)
			continue
		}
		for i, id := range a.stack {
			p := old.places[id]
			if p.kind == placeEnd {
				p.addr = uint64(e.tree.reason(old.reasons[p.addr]))
			}
			if p.name != 0 {
				p.name = e.tree.nameID(old.named[p.name-1])
			}
			a.stack[i] = e.tree.place(p)
		}
		t := &old.tags[a.key.tag]
		a.key.tag = e.tree.tag(t.goroutine, t.labels)
		a.key.thread = e.listed(list[a.key.thread])
	}
}
