package jit

import (
	"hash/maphash"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Follower follows what a running process registers. An object is the same module as long as the
// process has it registered. One goroutine may use it at a time; the modules may be used by others.
type Follower struct {
	reader *reader
	places []descriptor
	looked map[*target.Module][]descriptor
	heads  uint64 // of the lists, when they were read last
	known  map[uint64]*target.Module
	busy   time.Time // until when the lists are left alone, because to read them takes long
}

// NewFollower follows a process whose memory is mem. warn gets what the user should know, a
// sentence each.
func NewFollower(mem target.Memory, a *arch.Arch, warn func(format string, args ...any)) *Follower {
	r := newReader(mem, a, warn)
	r.copies.drop = true
	return &Follower{reader: r}
}

// part is how much of the time may be taken to read lists at most, one part of so many.
const part = 20

// Changed reports whether the process has registered objects since [Follower.Objects], or has taken
// some away, as far as the beginnings of its lists tell.
func (f *Follower) Changed() bool {
	return len(f.places) > 0 && !time.Now().Before(f.busy) && f.look() != f.heads
}

// look returns a sum of the lists' descriptors, and of the entries that were registered last.
func (f *Follower) look() uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	r := f.reader
	word := uint64(r.arch.PtrSize)
	for _, at := range f.places {
		d, err := r.copies.read(at.addr, 8+2*word)
		if err != nil {
			continue
		}
		sum.Write(d)
		for _, entry := range [...]uint64{r.arch.Word(d[8:]), r.arch.Word(d[8+word:])} {
			if e, err := r.copies.read(entry, 5*word); entry != 0 && err == nil {
				sum.Write(e)
			}
		}
	}
	return sum.Sum64()
}

var seed = maphash.MakeSeed()

// Objects returns the objects that the process has registered now. modules are the modules of its
// files.
func (f *Follower) Objects(modules *target.Modules) []*target.Module {
	begin := time.Now()
	f.find(modules)
	f.heads = f.look()
	r := f.reader
	before, warn := f.known, r.warn
	defer func() {
		r.warn, r.same = warn, nil
		f.busy = time.Now().Add(part * time.Since(begin))
	}()
	for attempt := 1; ; attempt++ {
		f.known = map[uint64]*target.Module{}
		r.headersLeft, r.torn, r.bad, r.first = maxHeaders, false, 0, nil
		r.same = func(d *described, made *target.Module) *target.Module {
			key := d.sum()
			if m := before[key]; m != nil {
				made = m
			}
			f.known[key] = made
			return made
		}
		r.warn = func(string, ...any) {}
		if attempt == maxAttempts {
			r.warn = warn
		}
		if objects := r.objects(f.places); !r.torn || attempt == maxAttempts {
			if attempt < maxAttempts {
				r.warn = warn
				r.summarize(len(objects))
			}
			return objects
		}
	}
}

// find finds the descriptors of modules. It looks into a file once.
func (f *Follower) find(modules *target.Modules) {
	before := f.looked
	f.places, f.looked = nil, map[*target.Module][]descriptor{}
	for _, m := range modules.All() {
		list, ok := before[m]
		if !ok {
			list = descriptorsOf(m)
		}
		f.looked[m] = list
		f.places = append(f.places, list...)
	}
	f.places = f.places[:min(len(f.places), maxDescriptors)]
}

// sum tells objects apart by where they are, and by their headers.
func (d *described) sum() uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	maphash.WriteComparable(&sum, [2]uint64{d.addr, d.size})
	for _, h := range d.headers {
		sum.Write(h.Data)
	}
	return sum.Sum64()
}
