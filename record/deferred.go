package record

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/format/perfevent"
)

// deferred are samples whose frames of the program come later: perf record --call-graph fp,defer
// has the kernel look for them when the thread goes back to the program. One record serves all
// samples of that stay in the kernel. It has a cookie, as they have.
type deferred struct {
	// waiting are the samples, by thread and cookie. Those of one stay are in the order in which
	// they came.
	waiting map[int32]map[uint64][]waitingSample
	words   int // of their chains
	// done has the last record of each thread: later samples of the same stay in the kernel have
	// its cookie, too.
	done map[int32]followed
	told int // words of done
}

// waitingSample is a sample whose chain is the kernel's part.
type waitingSample struct {
	perfevent.Sample
	cookie uint64
	format *perfevent.Format
}

// followed is what a record has told.
type followed struct {
	cookie uint64
	chain  []uint64
}

// came says where the frames of the program in a sample's call chain come from.
type came uint8

const (
	cameWithSample came = iota
	cameLater           // in a record of their own
	cameNever           // that was to come
)

// maxDeferred bounds the words of all samples that wait, and also the words that records have told.
const maxDeferred = 1 << 22

// waitsFor reports whether the frames of the program in a sample's call chain come later, takes the
// mark away that says so, and returns the cookie.
func waitsFor(s *perfevent.Sample) (cookie uint64, waits bool) {
	n := len(s.Chain)
	if n < 2 || s.Chain[n-2] != perfevent.ContextUserDeferred {
		return 0, false
	}
	cookie = s.Chain[n-1]
	s.Chain = s.Chain[:n-2]
	return cookie, true
}

// wait keeps a sample until the frames of the program come. It reports false if they come with the
// sample.
func (d *deferred) wait(e *engine, s *perfevent.Sample) bool {
	cookie, waits := waitsFor(s)
	if !waits {
		return false
	}
	if last, ok := d.done[s.TID]; ok && last.cookie == cookie {
		s.Chain = append(append(s.Chain, perfevent.ContextUser), last.chain...)
		e.came = cameLater
		e.take(s)
		e.came = cameWithSample
		return true
	}
	if d.words+words(s) > maxDeferred {
		d.giveUpAll(e)
	}
	d.words += words(s)
	kept := *s
	kept.Chain, kept.Regs, kept.Stack = slices.Clone(s.Chain), nil, nil
	if d.waiting == nil {
		d.waiting = map[int32]map[uint64][]waitingSample{}
	}
	stays := d.waiting[s.TID]
	if stays == nil {
		stays = map[uint64][]waitingSample{}
		d.waiting[s.TID] = stays
	}
	stays[cookie] = append(stays[cookie], waitingSample{kept, cookie, e.format})
	return true
}

// follow takes a record with the frames of the program. Samples of the thread that wait for another
// record wait on: it may come.
func (d *deferred) follow(e *engine, c *perfevent.Deferred) {
	chain := slices.DeleteFunc(c.Chain, func(pc uint64) bool { return pc >= perfevent.ContextMarks })
	d.forget(c.ID.TID)
	if d.told += 8 + len(chain); d.done == nil || d.told > maxDeferred {
		d.done, d.told = map[int32]followed{}, 8+len(chain)
	}
	d.done[c.ID.TID] = followed{c.Cookie, chain}
	stays := d.waiting[c.ID.TID]
	list := stays[c.Cookie]
	if delete(stays, c.Cookie); len(stays) == 0 {
		delete(d.waiting, c.ID.TID)
	}
	for i := range list {
		w := &list[i]
		kept := words(&w.Sample)
		w.Chain = append(append(w.Chain, perfevent.ContextUser), chain...)
		d.give(e, w, kept, cameLater)
	}
}

// words returns how much room a sample that waits takes, in words.
func words(s *perfevent.Sample) int {
	const plain = 64 // without its chain, with its place in waiting, about
	return plain + len(s.Chain)
}

// give has a sample counted, which waits no more. kept is what its chain took.
func (d *deferred) give(e *engine, w *waitingSample, kept int, came came) {
	d.words -= kept
	was := e.format
	e.format, e.came = w.format, came
	e.take(&w.Sample)
	e.format, e.came = was, cameWithSample
}

// forget forgets the last record of a thread.
func (d *deferred) forget(tid int32) {
	if last, ok := d.done[tid]; ok {
		d.told -= 8 + len(last.chain)
		delete(d.done, tid)
	}
}

// giveUp counts the samples of a thread that has ended.
func (d *deferred) giveUp(e *engine, tid int32) {
	d.forget(tid)
	var all []waitingSample
	for _, list := range d.waiting[tid] {
		all = append(all, list...)
	}
	delete(d.waiting, tid)
	d.without(e, all)
}

// giveUpAll counts all samples that wait: no more is to come, or too many wait.
func (d *deferred) giveUpAll(e *engine) {
	var all []waitingSample
	for _, stays := range d.waiting {
		for _, list := range stays {
			all = append(all, list...)
		}
	}
	clear(d.waiting)
	d.without(e, all)
}

// without counts samples whose frames of the program have not come, in the order of their times.
func (d *deferred) without(e *engine, list []waitingSample) {
	slices.SortStableFunc(list, func(a, b waitingSample) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.TID, b.TID), cmp.Compare(a.cookie, b.cookie))
	})
	for i := range list {
		d.give(e, &list[i], words(&list[i].Sample), cameNever)
	}
}
