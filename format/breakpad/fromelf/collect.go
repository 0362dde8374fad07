package fromelf

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/elf"
)

// collect reads the functions of all units, with all processors.
func (d *Dump) collect() []found {
	im := d.image
	if d.debug != nil {
		im = d.debug
	}
	if !hasDWARF(im) {
		return nil
	}
	s, err := d.readSections(im, "")
	if err != nil {
		d.warn(nil, err)
		return nil
	}
	if err := s.listUnits(); err != nil {
		d.warn(nil, err)
	}
	if !d.opts.LikeDumpSyms {
		s.sup = d.supplement(im)
	}
	d.splits.dump, d.splits.image = d, im
	for i, u := range s.units {
		u.number = uint32(i)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	readers := make([]reader, max(1, min(runtime.GOMAXPROCS(0), len(s.units))))
	for i := range readers {
		r := &readers[i]
		r.d = d
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(s.units) {
					return
				}
				r.unit(s, s, s.units[n])
			}
		})
	}
	wg.Wait()
	var all []found
	for i := range readers {
		all = append(all, readers[i].out...)
		readers[i] = reader{}
	}
	return all
}

// unit reads the functions of a unit, and of the rest of it if it is split.
func (r *reader) unit(s, lines *sections, u *unit) {
	if !r.reset(s, lines, u) {
		return
	}
	if u.tag != dwarf.TagCompileUnit && u.tag != dwarf.TagSkeletonUnit { // a partial unit has no code
		return
	}
	if u.language == langAssembler && r.d.opts.LikeDumpSyms {
		return
	}
	dwo := u.dwoName
	r.walk()
	if len(r.functions) > 0 {
		r.readLines()
		r.assign()
		r.encode()
	}
	if len(dwo) == 0 || u.skeleton != nil {
		return
	}
	rest, split := r.d.splits.find(s, u)
	if rest == nil {
		return
	}
	split.number = u.number
	r.unit(rest, lines, split)
}

// order sorts functions by address and name, and leaves out a function that is there twice: the
// first unit's counts.
func (d *Dump) order(list []found, readable []string) []found {
	slices.SortFunc(list, func(a, b found) int {
		if c := cmp.Compare(a.addr, b.addr); c != 0 {
			return c
		}
		if !d.opts.Multiple {
			if c := cmp.Compare(readable[a.name], readable[b.name]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.unit, b.unit)
	})
	kept := list[:0]
	for _, f := range list {
		if n := len(kept); n > 0 && kept[n-1].addr == f.addr {
			if d.opts.Multiple {
				kept[n-1].multiple = true
				continue
			}
			if readable[kept[n-1].name] == readable[f.name] {
				continue
			}
		}
		kept = append(kept, f)
	}
	return kept
}

// readAll makes the readable forms of names, by their numbers; a number that want does not have is
// left out.
func (d *Dump) readAll(want []bool, have []string) {
	var next atomic.Int64
	var wg sync.WaitGroup
	const batch = 64
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(want) {
					return
				}
				for i := from; i < min(from+batch, len(want)); i++ {
					if want[i] && have[i] == "" {
						have[i] = d.readable(d.names.list[i])
					}
				}
			}
		})
	}
	wg.Wait()
}

// openOther opens another ELF file that belongs to d; nil if it is not there.
func (d *Dump) openOther(path string) *elf.Image {
	im, file, err := elf.OpenFile(path)
	if err != nil {
		return nil
	}
	if im.Machine != d.image.Machine || im.Class != d.image.Class {
		file.Close()
		d.warn(nil, fmt.Errorf("%s: machine is %v, not %v", path, im.Machine, d.image.Machine))
		return nil
	}
	d.mu.Lock()
	d.closers = append(d.closers, file)
	d.mu.Unlock()
	return im
}
