package elf

import (
	"bytes"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// The images of one budget share its room. The largest file, and the bytes of all files beyond the
// first usualFiles, determine the room; mapped memory adds none. An image without a budget has no
// bound.
func TestBudget(t *testing.T) {
	const mb = 1 << 20
	one, two, memory := &Image{there: mb}, &Image{there: mb}, &Image{there: 1 << 40, inMemory: true}
	var budget Budget
	for _, im := range []*Image{one, two, memory} {
		im.Join(&budget)
	}
	const all = usualRoom + largestRoom*mb
	if !one.Reserve(all-2) || two.Reserve(3) || !two.Reserve(2) || memory.Reserve(1) || one.Reserve(1) {
		t.Error("files of one size have not the room that they should have")
	}
	if two.Release(2); !one.Reserve(2) {
		t.Error("what is released does not make room")
	}
	if one.ReserveWork(usualWork+2*timesWork*mb+1) || !memory.ReserveWork(usualWork+2*timesWork*mb) || one.ReserveWork(1) {
		t.Error("not as much may be unpacked as should be")
	}
	debug := &Image{there: 4 * mb}
	debug.Join(one.Budget())
	debug.Join(one.Budget()) // counts once
	if one.Reserve(3*largestRoom*mb+1) || !debug.Reserve(3*largestRoom*mb) {
		t.Error("a larger file, which belongs to another, has not the room that it should have")
	}
	large := &Image{there: usualFiles}
	large.Join(one.Budget())
	if more := largestRoom*(largestFile-4*mb) + int64(lastRoom*6*mb); one.Reserve(more+1) || !large.Reserve(more) {
		t.Error("a large file has not the room that it should have")
	}
	if alone := (&Image{}); !alone.Reserve(1<<40) || !alone.ReserveWork(1<<40) {
		t.Error("an image without a budget has a bound")
	}
}

// The files of other users add no more than Budget.Others allows; root's and this user's add what
// they have.
func TestOthers(t *testing.T) {
	const most, mb = 5 << 20, 1 << 20
	b := Budget{Others: most}
	for range 1000 { // as a process may write, map and delete them
		b.grant(mb, false)
	}
	for range usualFiles/mb - most/mb + 3 {
		b.grant(mb, true)
	}
	im := &Image{}
	im.Join(&b)
	if all := int64(usualRoom + largestRoom*mb + lastRoom*3*mb); im.Reserve(all+1) || !im.Reserve(all) {
		t.Errorf("the files have other room than %d bytes", all)
	}
}

// An image may join a budget while others use the image: the lists of modules of two targets can
// have one image. The budget has no room for the image's section headers, so the image loses them.
func TestConcurrentJoin(t *testing.T) {
	file := elftest.File{Sections: make([]elftest.Section, 100)}
	for i := range file.Sections {
		file.Sections[i] = elftest.Section{Name: ".data", Data: make([]byte, 8)}
	}
	data := file.Bytes()
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	budgets := make([]Budget, 4)
	for i := range budgets {
		full := &Image{there: largestFile}
		full.Join(&budgets[i])
		full.Reserve(usualRoom + largestRoom*largestFile)
	}
	var wg sync.WaitGroup
	for i := range budgets {
		wg.Go(func() {
			im.Join(&budgets[i])
			if _, _, err := im.Section(".data"); err == nil {
				t.Error("a section is there although its header has no room")
			}
		})
		wg.Go(func() {
			im.Section(".data")
			im.Symbols()
			im.Stub(0)
			im.Evictable(func() {})
			im.ReserveWork(1)
			if im.Reserve(1) {
				im.Release(1)
			}
		})
	}
	wg.Wait()
}

// The Evictable unused for longest gives way first. One that is in use does not. Making its data
// again counts as work.
func TestEvictable(t *testing.T) {
	im := &Image{there: 1}
	im.Join(new(Budget))
	const half = usualRoom / 2
	var dropped string
	spare := func(name string) *Evictable { return im.Evictable(func() { dropped += name }) }
	a, b, c := spare("a"), spare("b"), spare("c")
	keep := func(s *Evictable, n int64) bool {
		s.Pin()
		defer s.Unpin()
		return s.MayRebuild() && s.Reserve(n)
	}
	if !keep(a, half) || !keep(b, half-100) || !keep(a, 1) || !keep(c, 1000) || dropped != "b" {
		t.Errorf("dropped %q, want b", dropped)
	}
	b.Pin()
	if !b.MayRebuild() || !b.Reserve(half) || dropped != "ba" {
		t.Errorf("dropped %q, want b and a", dropped)
	}
	if b.Reserve(half+100) || dropped != "bac" || !im.Reserve(half) || im.Reserve(half) {
		t.Errorf("dropped %q; what is in use does not give way", dropped)
	}
	b.Unpin()
	if !im.Reserve(half) || dropped != "bacb" {
		t.Errorf("dropped %q, want b at last", dropped)
	}
	im.Release(2 * half)
	if !im.ReserveWork(usualWork+timesWork-half+100-half) || a.MayRebuild() || !c.MayRebuild() {
		t.Error("to make something again is no work")
	}
}
