package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sfwalk/sfwalk/internal/perfmap"
)

// inNoFile returns the places that have no name yet and are in code of no file, or of one that may
// be another's.
func (n *Namer) inNoFile() (list []uint32) {
	for i := range n.profile.places {
		p := &n.profile.places[i]
		if p.kind == placeUser && (p.module == nil || p.module.Doubted()) && n.named[i] == nil {
			list = append(list, uint32(i))
		}
	}
	return list
}

// lacksName reports whether a place is in a file that tells no name of the function there.
func (n *Namer) lacksName(id uint32) bool {
	p, list := &n.profile.places[id], n.named[id]
	return p.kind == placeUser && p.module != nil && list[len(list)-1].Function == ""
}

// nameInFiles names places once more for which files have no names. Perf maps list code in files,
// too: V8's builtins are in node's.
func (n *Namer) nameInFiles(list []uint32) {
	n.nameJITCode(list)
	for _, id := range list {
		if p := &n.profile.places[id]; n.jitNames[n.jitAt(p)] != "" {
			n.named[id] = n.name(p)
		}
	}
}

// jitAt returns where the code at a place is: in its process, or, if it is in a file, in the first
// process that has the file there.
func (n *Namer) jitAt(p *place) jitAt {
	if p.pid == 0 && p.module != nil {
		return jitAt{int32(n.profile.Process(p.module)), p.addr}
	}
	return jitAt{p.pid, p.addr}
}

// nameJITCode finds the names that compilers at run time have given the code at places, all names
// of a process at once.
func (n *Namer) nameJITCode(list []uint32) {
	addrs := map[int32][]uint64{}
	for _, id := range list {
		at := n.jitAt(&n.profile.places[id])
		addrs[at.pid] = append(addrs[at.pid], at.addr)
	}
	open := perfmap.OpenOf
	if n.profile.file != nil {
		open = n.profile.file.perfMap
	}
	for _, pid := range slices.Sorted(maps.Keys(addrs)) {
		f, err := open(int(pid))
		if err != nil {
			continue
		}
		var names map[uint64]string
		info, err := f.Stat()
		if err == nil {
			names, err = perfmap.Names(f, info.Size(), addrs[pid])
		}
		f.Close()
		if err != nil {
			n.say(fmt.Sprintf("names of code that process %d has made, %s: %v", pid, f.Name(), err))
		}
		for addr, name := range names {
			n.jitNames[jitAt{pid, addr}] = name
		}
	}
}
