package elfimage

import "testing"

// What files expand to is kept as far as all of one budget have room, whose size is by the largest
// file, and by what there is of all behind the first usualFiles bytes; memory that is mapped adds none.
// An image without a budget has no bound.
func TestBudget(t *testing.T) {
	const mb = 1 << 20
	one, two, memory := &Image{there: mb}, &Image{there: mb}, &Image{there: 1 << 40, inMemory: true}
	var budget Budget
	for _, im := range []*Image{one, two, memory} {
		im.Join(&budget)
	}
	const all = usualRoom + largestRoom*mb
	if !one.Keep(all-2) || two.Keep(3) || !two.Keep(2) || memory.Keep(1) || one.Keep(1) {
		t.Error("files of one size have not the room that they should have")
	}
	if two.Release(2); !one.Keep(2) {
		t.Error("what is released does not make room")
	}
	if one.Unpack(usualWork+2*timesWork*mb+1) || !memory.Unpack(usualWork+2*timesWork*mb) || one.Unpack(1) {
		t.Error("not as much may be unpacked as should be")
	}
	debug := &Image{there: 4 * mb}
	debug.Join(one.Budget())
	debug.Join(one.Budget()) // counts once
	if one.Keep(3*largestRoom*mb+1) || !debug.Keep(3*largestRoom*mb) {
		t.Error("a larger file, which belongs to another, has not the room that it should have")
	}
	large := &Image{there: usualFiles}
	large.Join(one.Budget())
	if more := largestRoom*(largestFile-4*mb) + int64(lastRoom*6*mb); one.Keep(more+1) || !large.Keep(more) {
		t.Error("a large file has not the room that it should have")
	}
	if alone := (&Image{}); !alone.Keep(1<<40) || !alone.Unpack(1<<40) {
		t.Error("an image without a budget has a bound")
	}
}

// What can be made again gives way, what was used longest ago first, unless it is in use; to make it
// again is work.
func TestSpare(t *testing.T) {
	im := &Image{there: 1}
	im.Join(new(Budget))
	const half = usualRoom / 2
	var dropped string
	spare := func(name string) *Spare { return im.Spare(func() { dropped += name }) }
	a, b, c := spare("a"), spare("b"), spare("c")
	keep := func(s *Spare, n int64) bool {
		s.Use()
		defer s.Done()
		return s.Again() && s.Keep(n)
	}
	if !keep(a, half) || !keep(b, half-100) || !keep(a, 1) || !keep(c, 1000) || dropped != "b" {
		t.Errorf("dropped %q, want b", dropped)
	}
	b.Use()
	if !b.Again() || !b.Keep(half) || dropped != "ba" {
		t.Errorf("dropped %q, want b and a", dropped)
	}
	if b.Keep(half+100) || dropped != "bac" || !im.Keep(half) || im.Keep(half) {
		t.Errorf("dropped %q; what is in use does not give way", dropped)
	}
	b.Done()
	if !im.Keep(half) || dropped != "bacb" {
		t.Errorf("dropped %q, want b at last", dropped)
	}
	im.Release(2 * half)
	if !im.Unpack(usualWork+timesWork-half+100-half) || a.Again() || !c.Again() {
		t.Error("to make something again is no work")
	}
}
