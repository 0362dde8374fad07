package fromelf

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// splits finds the rest of units whose DWARF is split (DWARF 5 appendix F; for DWARF 4 see
// https://gcc.gnu.org/wiki/DebugFission): in a package (.dwp) or in a file for each unit (.dwo).
type splits struct {
	dump  *Dump
	image *elf.Image // the file with the skeletons

	once sync.Once
	pack *dwp // nil if there is none

	mu      sync.Mutex
	missing bool                 // that a unit is missing was said
	opened  map[sizeAndTime]bool // files that were opened
}

// sizeAndTime tells files apart. A file has the same by all its names.
type sizeAndTime struct {
	size int64
	time time.Time
}

// find returns the rest of u, a skeleton in s; nil if it is not there.
func (p *splits) find(s *sections, u *unit) (*sections, *unit) {
	p.once.Do(p.openPackage)
	if p.pack != nil {
		rest, err := p.pack.sections(u.ID)
		if err != nil {
			p.dump.warn(u, err)
		}
		if rest != nil {
			if split := p.unit(s, rest, u); split != nil {
				return rest, split
			}
		}
	}
	name := string(u.dwoName)
	for _, path := range p.paths(name, string(u.dir)) {
		rest, err := p.open(path)
		if err != nil {
			p.dump.warn(u, fmt.Errorf("%s: %w", path, err))
		}
		if rest == nil {
			continue
		}
		if split := p.unit(s, rest, u); split != nil {
			return rest, split
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.missing {
		p.missing = true
		p.dump.warn(u, fmt.Errorf("split DWARF %s of ID %#x: no such file: functions are missing", name, u.ID))
	}
	return nil, nil
}

// paths returns where a .dwo file may be. dump_syms leaves out the compilation directory.
func (p *splits) paths(name, dir string) []string {
	if filepath.IsAbs(name) || p.dump.opts.LikeDumpSyms {
		return []string{name}
	}
	list := []string{filepath.Join(dir, name)}
	for _, d := range p.dump.opts.DebugDirs {
		list = append(list, filepath.Join(d, name))
	}
	return append(list, filepath.Join(filepath.Dir(p.image.Path), filepath.Base(name)))
}

// open reads a .dwo file; nil if there is none.
func (p *splits) open(path string) (*sections, error) {
	if p.dump.sharedLeft.Load() < 0 {
		return nil, errShared
	}
	im, file, err := elf.OpenFile(path)
	if err != nil {
		return nil, nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	p.opening(im, sizeAndTime{info.Size(), info.ModTime()})
	s, err := p.dump.readSections(im, ".dwo")
	if err != nil || s.info.size == 0 {
		return nil, err
	}
	if err := s.spend(s.info.size + uint64(len(s.abbrev)+len(s.str)+len(s.strOffs)+len(s.rngLists))); err != nil {
		return nil, err
	}
	if p.dump.opts.LikeDumpSyms { // it does not read them
		s.rngLists = nil
	}
	if p.dump.splitLeft.Add(-im.SizeOnDisk()) < 0 {
		return nil, errTooMuch
	}
	if s.info.file != nil { // it is read as a whole: the file is closed again
		s.info = blob{data: s.info.part(0, s.info.size, nil), size: s.info.size}
	}
	return s, s.listUnits()
}

// opening has a file count for what units may read together, when it is opened for the first time.
func (p *splits) opening(im *elf.Image, file sizeAndTime) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		p.opened = make(map[sizeAndTime]bool)
	}
	if !p.opened[file] {
		p.opened[file] = true
		p.dump.sharedLeft.Add(sharedRatio * im.SizeOnDisk())
	}
}

// maxSplit bounds the bytes of all .dwo files.
const maxSplit = 4 << 30

// sharedRatio is how often units may together read what they share, such as a .dwo file that all of
// them name.
const sharedRatio = 64

var (
	errTooMuch = errors.New("all files of split DWARF together are too large")
	errShared  = errors.New("units refer to the same data too often: functions are missing")
)

// unit returns the unit of rest that belongs to a skeleton in s, and gives rest what it has from
// there.
func (p *splits) unit(s, rest *sections, skeleton *unit) *unit {
	rest.addr, rest.ranges, rest.lineStr, rest.sup = s.addr, s.ranges, s.lineStr, s.sup
	if p.dump.opts.LikeDumpSyms { // it does not have them at hand
		rest.ranges = nil
	}
	for _, u := range rest.units {
		if u.Version >= 5 && u.ID != skeleton.ID {
			continue
		}
		u.skeleton = skeleton
		if f := rest.foreignUnit(u); f != nil && u.ID == skeleton.ID && u.tag == dwarf.TagCompileUnit {
			return u
		}
	}
	return nil
}

// openPackage opens the package of the file, if there is one.
func (p *splits) openPackage() {
	if pack, err := p.dump.openDWP(p.image); err == nil {
		p.pack = pack // its sections are in the file itself
		return
	} else if !errors.Is(err, elf.ErrNoSection) {
		p.dump.warn(nil, err)
	}
	path := p.image.Path
	if path == "" {
		return
	}
	names := []string{path + ".dwp"}
	if base, ok := strings.CutSuffix(path, ".debug"); ok {
		names = append(names, base+".dwp")
	}
	if d := p.dump.image.Path; d != path {
		names = append(names, d+".dwp")
	}
	for _, name := range names {
		im := p.dump.openOther(name)
		if im == nil {
			continue
		}
		pack, err := p.dump.openDWP(im)
		if err != nil {
			p.dump.warn(nil, fmt.Errorf("%s: %w", name, err))
			continue
		}
		p.pack = pack
		return
	}
}

// dwp is a package.
type dwp struct {
	all   *sections
	index *dwarfdata.PackageIndex
}

func (d *Dump) openDWP(im *elf.Image) (*dwp, error) {
	data, _, err := im.Section(".debug_cu_index")
	if err != nil {
		return nil, err
	}
	all, err := d.readSections(im, ".dwo")
	if err != nil {
		return nil, err
	}
	if im != d.image && im != d.debug {
		d.sharedLeft.Add(sharedRatio * im.SizeOnDisk())
	}
	index, err := dwarfdata.ReadPackageIndex(data, im.Order)
	if err != nil {
		return nil, err
	}
	return &dwp{all, index}, nil
}

// sections returns the parts of the unit with an ID; nil if the package does not have it.
func (p *dwp) sections(id uint64) (*sections, error) {
	row, ok := p.index.Find(id)
	if !ok {
		return nil, nil
	}
	all := p.all
	cut := func(of int, b []byte) []byte {
		from, n, _ := p.index.Part(row, of)
		if from+n > uint64(len(b)) {
			return nil
		}
		return b[from : from+n]
	}
	from, n, _ := p.index.Part(row, dwarfdata.PackageInfo)
	if err := all.spend(n); err != nil {
		return nil, err
	}
	data := all.info.part(from, from+n, nil)
	s := &sections{
		order: all.order, left: all.left, info: blob{data: data, size: uint64(len(data))}, abbrev: cut(dwarfdata.PackageAbbrev, all.abbrev),
		str: all.str, strOffs: cut(dwarfdata.PackageStrOffsets, all.strOffs), rngLists: cut(dwarfdata.PackageRangeLists, all.rngLists),
	}
	if s.listUnits() != nil {
		return nil, nil
	}
	return s, nil
}
