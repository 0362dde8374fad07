package waits

import "slices"

// edge is a thread that waits for what another one holds, or for its end.
type edge struct {
	to    int // index of the thread
	timed bool
	text  string // what it waits for, within a deadlock
}

// cycles returns the deadlocks among threads in the order of their IDs: cycles of edges. A thread
// may wait for what several hold, as for a lock of a language and for the system's lock within:
// each of them alone keeps it from going on. Every deadlock has one of the cycles at least.
func cycles(ids []int, edges [][]edge) (list []Deadlock) {
	const (
		untouched = iota
		open      // on the path
		done
	)
	state := make([]uint8, len(ids))
	next := make([]int, len(ids)) // the edge to follow from there
	for first := range ids {
		if state[first] != untouched {
			continue
		}
		path := []int{first}
		state[first] = open
		for len(path) > 0 {
			at := path[len(path)-1]
			if next[at] == len(edges[at]) {
				state[at] = done
				path = path[:len(path)-1]
				continue
			}
			to := edges[at][next[at]].to
			next[at]++
			switch state[to] {
			case untouched:
				state[to] = open
				path = append(path, to)
			case open:
				if len(list) == mostDeadlocks {
					return list
				}
				list = append(list, deadlock(ids, edges, next, path[slices.Index(path, to):]))
			}
		}
	}
	return list
}

// mostDeadlocks bounds the deadlocks of one process.
const mostDeadlocks = 1 << 10

// deadlock returns the deadlock of threads each of which waits for the next one, by the edge before
// next; the last one waits for the first one. It begins with the thread of the lowest ID.
func deadlock(ids []int, edges [][]edge, next []int, cycle []int) Deadlock {
	d, first := Deadlock{}, 0
	for i := range cycle {
		if ids[cycle[i]] < ids[cycle[first]] {
			first = i
		}
	}
	for i := range cycle {
		at := cycle[(first+i)%len(cycle)]
		e := &edges[at][next[at]-1]
		d.Threads = append(d.Threads, ids[at])
		d.Timed = d.Timed || e.timed
		d.links = append(d.links, e.text)
	}
	return d
}
