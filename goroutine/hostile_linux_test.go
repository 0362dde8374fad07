package goroutine

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// recorded is a target whose memory is the pages that have been read from another target. Tests may
// change the pages.
type recorded struct {
	target.Target
	pages map[uint64][]byte
	from  target.Memory // has the other pages; nil: there are none
}

const pageSize = 4096

func (r *recorded) Memory() target.Memory { return r }

func (r *recorded) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		base := at &^ (pageSize - 1)
		page := r.pages[base]
		if page == nil && r.from != nil {
			page = make([]byte, pageSize)
			if got, _ := r.from.ReadMemory(base, page); got == pageSize {
				r.pages[base] = page
			} else {
				page = nil
			}
		}
		if page == nil || at < addr {
			return n, target.ErrUnmapped
		}
		n += copy(p[n:], page[at-base:])
	}
	return n, nil
}

// record lists a process's goroutines and keeps the memory that is read for that. words are the
// addresses of words in it.
func record(t testing.TB) (r *recorded, found *Runtime, words []uint64) {
	t.Helper()
	s := start(t, "none", gdbtest.Build(t, "goparked", "-ldflags=-s -w"))
	tg := s.attach(t)
	r = &recorded{Target: tg, pages: map[uint64][]byte{}, from: tg.Memory()}
	found, err := Find(r)
	if err != nil {
		t.Fatal(err)
	}
	list, err := found.All()
	if err != nil || len(list) < 4 {
		t.Fatalf("%d goroutines, %v", len(list), err)
	}
	if _, objects := found.Waits(r, list); len(objects) == 0 {
		t.Fatal("no goroutine waits for a channel")
	}
	r.from = nil
	// The list's header, the pointers, the structs and the texts matter most, the rest of
	// their pages less.
	add := func(addr, size uint64) {
		for at := addr &^ 7; at < addr+size; at += 8 {
			if r.pages[at&^(pageSize-1)] != nil {
				words = append(words, at)
			}
		}
	}
	add(found.allgs, 24)
	pointers, _, err := found.pointers(found.allgs, maxGoroutines)
	if err != nil {
		t.Fatal(err)
	}
	add(r.word(found.allgs), uint64(8*len(pointers)))
	for _, g := range pointers {
		add(g, uint64(found.fields.size))
		if m := r.word(g + uint64(found.fields.M)); m != 0 {
			add(m, procidRange)
		}
	}
	add(found.reasons, 16*leastReasons)
	for i := range list {
		if at := list[i].waiting; at != 0 {
			add(at, sudogSize)
			add(r.word(at+96), chanSize)
		}
	}
	return r, found, words
}

func (r *recorded) word(addr uint64) uint64 {
	var data [8]byte
	if n, _ := r.ReadMemory(addr, data[:]); n < len(data) {
		return 0
	}
	return binary.LittleEndian.Uint64(data[:])
}

// with returns a copy of r with other words at the addresses in changes.
func (r *recorded) with(changes map[uint64]uint64) *recorded {
	c := &recorded{Target: r.Target, pages: map[uint64][]byte{}}
	for at, page := range r.pages {
		c.pages[at] = page
	}
	for at, v := range changes {
		base := at &^ (pageSize - 1)
		c.pages[base] = slices.Clone(c.pages[base])
		binary.LittleEndian.PutUint64(c.pages[base][at-base:], v)
	}
	return c
}

// checkHostile lists the goroutines of a target with arbitrary memory. The results must be as
// documented.
func checkHostile(t *testing.T, r *recorded, before *Runtime, find func(target.Target) (*Runtime, error)) (failed bool) {
	t.Helper()
	now := *before
	now.t = r
	runtimes := []*Runtime{&now}
	found, err := find(r)
	switch {
	case err == nil:
		runtimes = append(runtimes, found)
	case !errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotGo):
		t.Fatal(err)
	default:
		failed = true
	}
	for _, x := range runtimes {
		list, err := x.All()
		if err != nil && !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		failed = failed || err != nil
		structs := map[uint64]bool{}
		for i, g := range list {
			switch {
			case g.Number == 0 || i > 0 && g.Number < list[i-1].Number:
				t.Fatalf("number %d behind %d", g.Number, list[max(i-1, 0)].Number)
			case structs[g.G]:
				t.Fatalf("two goroutines at %#x", g.G)
			case g.Parked() && (g.SP < g.Lo || g.SP > g.Hi || g.Thread != 0):
				t.Fatalf("parked at SP %#x on [%#x, %#x], thread %d", g.SP, g.Lo, g.Hi, g.Thread)
			case !g.Parked() && g.PC|g.FP|g.RA != 0:
				t.Fatalf("not parked, and PC is %#x", g.PC)
			case len(g.Reason) > maxReason || int(g.Status) >= len(statusNames):
				t.Fatalf("%v %q", g.Status, g.Reason)
			}
			structs[g.G] = true
		}
		waits, objects := x.Waits(r, list)
		for i := range list {
			for _, w := range waits[i] {
				if o := objects[w.Object]; o.Waiters < 1 || o.Len > o.Cap || !list[i].Parked() {
					t.Fatalf("goroutine %d waits for %+v", list[i].Number, o)
				}
			}
		}
	}
	return failed
}

// Who waits in a queue that leads back into itself is counted once, and who is in no queue of its
// channel waits for nothing that is known.
func TestDamagedQueues(t *testing.T) {
	r, found, _ := record(t)
	list, err := found.All()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range list {
		sudog := list[i].waiting
		channel := r.word(sudog + 96)
		if waits, objects := found.Waits(r, list); waits[i] == nil || objects[waits[i][0].Object].Kind != Channel {
			continue
		} else if objects[waits[i][0].Object].Address != channel {
			t.Fatalf("goroutine %d waits for the channel at %#x, not %#x", list[i].Number, objects[waits[i][0].Object].Address, channel)
		}
		n++
		ring := r.with(map[uint64]uint64{sudog + sudogNext: sudog})
		waits, objects := found.Waits(ring, list)
		if waits[i] == nil || objects[waits[i][0].Object].Waiters > len(list) {
			t.Errorf("goroutine %d, in a ring: %+v, %+v", list[i].Number, waits[i], objects)
		}
		empty := r.with(map[uint64]uint64{channel + 64: 0, channel + 64 + queueSize: 0})
		if waits, _ := found.Waits(empty, list); waits[i] != nil {
			t.Errorf("goroutine %d, in no queue: %+v", list[i].Number, waits[i])
		}
	}
	if n == 0 {
		t.Error("no goroutine waits for a channel")
	}
}

// hostileValue returns the value that replaces a word.
func hostileValue(kind uint8, v uint64, words []uint64) uint64 {
	switch kind % 4 {
	case 0:
		return v
	case 1:
		return words[v%uint64(len(words))]
	case 2:
		return v % 4096
	}
	return ^uint64(0) >> (v % 64)
}

// Wrong words anywhere lead to errors or fewer goroutines, and to nothing worse.
func TestDamaged(t *testing.T) {
	r, found, words := record(t)
	if checkHostile(t, r, found, Find) {
		t.Fatal("what is not damaged fails")
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	failed := 0
	for range 2000 {
		changes := map[uint64]uint64{}
		for range 1 + rnd.IntN(6) {
			changes[words[rnd.IntN(len(words))]] = hostileValue(uint8(rnd.Uint32()), rnd.Uint64(), words)
		}
		if checkHostile(t, r.with(changes), found, Find) {
			failed++
		}
	}
	t.Logf("%d of 2000 fail", failed)
	if failed < 200 {
		t.Error("what was damaged does not matter")
	}
}

// A list that claims to be long costs no more than the part of it that can be read.
func TestLongList(t *testing.T) {
	r, found, _ := record(t)
	for _, n := range []uint64{1 << 10, maxGoroutines, maxGoroutines + 1, 1 << 40, ^uint64(0)} {
		long := r.with(map[uint64]uint64{found.allgs + 8: n, found.allgs + 16: n})
		now := *found
		now.t = long
		list, err := now.All()
		if !errors.Is(err, ErrUnknown) || n > maxGoroutines && len(list) != 0 || len(list) > 100 {
			t.Errorf("a list of %d: %d goroutines, %v", n, len(list), err)
		}
	}
}

// findAgain returns a function that finds the runtime of a target as Find does. findAgain reads the
// code once, since the code lies in a file that does not change.
func findAgain(t testing.TB, r *recorded) func(target.Target) (*Runtime, error) {
	t.Helper()
	for _, m := range r.Modules().All() {
		table, _, err := goruntime.Table(m)
		if err != nil {
			continue
		}
		code, _ := goruntime.FindLayout(m, r.Arch())
		functions := named(table, append(slices.Clone(listFunctions), reasonFunctions...))
		lists := slices.Collect(references(m, r.Arch(), functions, listFunctions))
		reasons := slices.Collect(references(m, r.Arch(), functions, reasonFunctions))
		return func(tg target.Target) (*Runtime, error) {
			now := &Runtime{t: tg, arch: tg.Arch()}
			return now, now.findBy(code, slices.Values(lists), slices.Values(reasons))
		}
	}
	t.Fatal("no Go code")
	return nil
}

func FuzzAll(f *testing.F) {
	r, found, words := record(f)
	find := findAgain(f, r)
	change := func(word uint16, kind uint8, v uint64) []byte {
		b := binary.LittleEndian.AppendUint16(nil, word)
		return binary.LittleEndian.AppendUint64(append(b, kind), v)
	}
	f.Add(change(1, 0, 1<<21))
	f.Add(change(0, 1, 3))
	f.Add(append(change(3, 1, 40), change(80, 3, 17)...))
	f.Add(append(change(10, 2, 0x1004), change(23, 2, 8)...))
	f.Add(change(63, 0, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		find := find
		if len(data) > 0 && data[0]%64 == 63 {
			find = Find
		}
		changes := map[uint64]uint64{}
		for ; len(data) >= 11 && len(changes) < 64; data = data[11:] {
			at := words[int(binary.LittleEndian.Uint16(data))%len(words)]
			changes[at] = hostileValue(data[2], binary.LittleEndian.Uint64(data[3:]), words)
		}
		bounds.Hold(t, 16<<20, func() { checkHostile(t, r.with(changes), found, find) })
	})
}
