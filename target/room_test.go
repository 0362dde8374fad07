package target

import "testing"

// What files expand to is kept as far as all of one target have room, which each adds to by what
// there is of it on disk; memory that is mapped adds none. Who belongs to no target has no bound.
func TestRoom(t *testing.T) {
	const mb = 1 << 20
	var list []*Module
	images := []*Image{{there: mb}, {there: mb}, {there: 1 << 40, inMemory: true}}
	for _, im := range images {
		list = append(list, NewModule("", []Mapping{{Hi: 1}}, func() (*Image, error) { return im, nil }))
	}
	NewModules(list, nil)
	open := func(i int) *Image {
		list[i].Image()
		return images[i]
	}
	one := open(0)
	if !one.Keep(usualRoom+firstRoom*mb) || one.Keep(1) || !one.Unpack(usualWork+timesWork*mb) || one.Unpack(1) {
		t.Error("one file has not the room that it should have")
	}
	if open(2).Keep(1) {
		t.Error("memory makes room")
	}
	debug := &Image{there: mb}
	debug.Join(one)
	debug.Join(one) // counts once
	if two := open(1); two.Keep(2*firstRoom*mb+1) || !two.Keep(firstRoom*mb) || !debug.Keep(firstRoom*mb) || one.Keep(1) {
		t.Error("another file, and one that belongs to it, have not the room that they should have")
	}
	if alone := (&Image{}); !alone.Keep(1<<40) || !alone.Unpack(1<<40) {
		t.Error("an image of no target has a bound")
	}
}
