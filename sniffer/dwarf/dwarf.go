package dwarf

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

var _ frame.BoundsSniffer = (*Sniffer)(nil)

func (*Sniffer) Name() string { return "dwarf" }

const (
	noModule  = frame.Answer("no module is mapped at PC")
	noImage   = frame.Answer("the module's file cannot be read")
	noSection = frame.Answer("the module has neither .eh_frame nor .debug_frame")
	leftOut   = frame.Answer("the module's .eh_frame or .debug_frame is left out: all files together take up too much memory")
	noFDE     = frame.Answer("no FDE covers PC")
	malformed = frame.Answer("the FDE is malformed or uses what is not known here")
	tooLong   = frame.Answer("the FDE's program is long, and too much was looked at already")
	tornDown  = frame.Answer("the FDE's row leaves out that the code at PC takes the frame down")
)

// sections are a module's tables, in the order in which the sniffer reads them.
type sections struct {
	list []*cfi.Section
	bias uint64
	why  frame.Answer
	abi  cfi.ABI // zero if the module cannot be read
	zero bool    // code begins at address 0
}

type sectionsKey struct{}

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	s := sectionsOf(q)
	why := s.why
	for i := 0; ; i++ {
		section := s.at(q, i)
		if section == nil {
			return trad.Row{}, why
		}
		if q.SearchSpent() && s.long(section, q.AddressInBlock) {
			return trad.Row{}, tooLong
		}
		row, lo, hi, steps, err := section.RowAt(q.AddressInBlock - s.bias)
		if steps > long {
			q.CountSearched(steps / fast)
		}
		if err == nil && s.dead(lo) {
			err = cfi.ErrNotFound
		}
		switch {
		case q.Innermost():
		case (err != nil || hi == q.PC-s.bias) && s.startsTrampoline(q, section), err == nil && row.Lo+uint64(row.Len) == q.PC-s.bias && landsAt(q):
			row, _, _, _, err = section.RowAt(q.PC - s.bias)
		}
		if err == nil {
			row.Lo += s.bias
			if q.InThunk(&row) {
				return row, frame.Claimed
			}
			if savesHandlerData(q.Arch, &row) && handOver(q, &row) || !q.Contradicted(&row) {
				return row, frame.Claimed
			}
			why = tornDown
			continue
		}
		if why = noFDE; !errors.Is(err, cfi.ErrNotFound) {
			why = malformed
		}
	}
}

const (
	// long is more instructions than usual FDEs have. fast is how many instructions of an FDE take
	// as long as one instruction of code takes in a search.
	long = 256
	fast = 64
)

// long reports whether the program of the FDE that covers pc may take long to run.
func (s *sections) long(section *cfi.Section, pc uint64) bool {
	f, err := section.Find(pc - s.bias)
	return err == nil && f.ProgramSize() > long
}

// startsTrampoline reports whether a signal trampoline begins at q.PC. A handler returns to the
// trampoline's first instruction. In most tables the trampoline begins a byte before that, for
// unwinders that look only at PC-1. In other tables PC-1 belongs to another function. If a call
// ends at PC, THIS is that function's frame.
func (s *sections) startsTrampoline(q *frame.Query, section *cfi.Section) bool {
	f, err := section.Find(q.PC - s.bias)
	if err != nil || !f.CIE.Signal || f.Start != q.PC-s.bias || s.dead(f.Start) {
		return false
	}
	follows, _ := q.FollowsCall(q.PC)
	return !follows
}

// landsAt reports whether no call ends at q.PC: code goes on there that has caught an exception,
// whose row need not be the row of the code before it.
func landsAt(q *frame.Query) bool {
	follows, known := q.FollowsCall(q.PC)
	return known && !follows
}

// FunctionStart returns where the FDE that covers q.AddressInBlock begins.
func (n *Sniffer) FunctionStart(q *frame.Query) (uint64, bool) {
	lo, _, ok := n.FunctionBounds(q)
	return lo, ok
}

// FunctionBounds returns the code of the FDE that covers q.AddressInBlock.
func (*Sniffer) FunctionBounds(q *frame.Query) (lo, hi uint64, ok bool) {
	if q.Module == nil {
		return 0, 0, false
	}
	s := sectionsOf(q)
	for i := 0; ; i++ {
		section := s.at(q, i)
		if section == nil {
			return 0, 0, false
		}
		if f, err := section.Find(q.AddressInBlock - s.bias); err == nil && !s.dead(f.Start) {
			return f.Start + s.bias, f.Start + f.Len + s.bias, true
		}
	}
}

// at returns section number i, or nil behind the last one. The last section is a separate debug
// file's. The first call that asks for it opens the file.
func (s *sections) at(q *frame.Query, i int) *cfi.Section {
	if i < len(s.list) {
		return s.list[i]
	}
	return s.separate(q, i)
}

func (s *sections) separate(q *frame.Query, i int) *cfi.Section {
	if i > len(s.list) || s.abi.Order == nil || q.Modules.DebugFile == nil {
		return nil
	}
	return q.Module.Memo(separateKey{}, func() any {
		if im := q.Modules.DebugFile(q.Module); im != nil {
			if data, addr, err := im.Pages(".debug_frame"); err == nil {
				opts := cfi.Options{ABI: s.abi, Room: im.Reserve}
				if code, _, err := q.Module.Image(); err == nil { // a debug file has no code
					opts.Thunk = q.Arch.Thunks(code.ReadLoaded)
				}
				if section, err := cfi.OpenPages(cfi.Debug, data, addr, opts); err == nil {
					return section
				}
			}
		}
		return (*cfi.Section)(nil)
	}).(*cfi.Section)
}

type separateKey struct{}

// dead reports whether an FDE for code at lo describes a function that the linker has left
// out: the FDE stays in .debug_frame, with the function's length and address 0.
func (s *sections) dead(lo uint64) bool { return lo == 0 && !s.zero }

func sectionsOf(q *frame.Query) *sections { return sectionsIn(q.Module, q.Arch) }

func sectionsIn(m *target.Module, a *arch.Arch) *sections {
	return m.Memo(sectionsKey{}, func() any { return open(m, a) }).(*sections)
}

// Rows yields the rows, from pc on, of the FDE that covers pc. There are none if no FDE does.
func Rows(q *frame.Query, pc uint64) iter.Seq[trad.Row] {
	return func(yield func(trad.Row) bool) {
		m := q.Modules.Find(pc)
		if m == nil {
			return
		}
		s := sectionsIn(m, q.Arch)
		for _, section := range s.list {
			f, err := section.Find(pc - s.bias)
			if err != nil {
				continue
			}
			for row, err := range section.Rows(f) {
				row.Lo += s.bias
				if err != nil || row.Lo >= pc && !yield(row) {
					return
				}
			}
			return
		}
	}
}

func open(m *target.Module, a *arch.Arch) *sections {
	im, bias, err := m.Image()
	if err != nil {
		return &sections{why: noImage}
	}
	abi := cfi.ABI{Order: a.Order, PtrSize: a.PtrSize, FP: a.FP, Link: a.RA, Exchanged: a.ExchangedEH, Doubles: a.Doubles, Halves: a.Halves}
	if a.PAuth {
		abi.PC, abi.PAuth = a.PC, true
	}
	// All modules of the file share what is in it.
	s := *im.Memo(imageKey{abi}, func() any { return openImage(im, a, abi) }).(*sections)
	s.bias = bias
	return &s
}

// imageKey is the key of an image's sections, read for an ABI.
type imageKey struct{ abi cfi.ABI }

// openImage opens the sections of a file. They have the bias 0.
func openImage(im *elfimage.Image, a *arch.Arch, abi cfi.ABI) *sections {
	s := &sections{why: noSection, abi: abi, zero: hasCodeAtZero(im)}
	thunk := a.Thunks(im.ReadLoaded)
	s.add(openEH(im, abi, thunk))
	data, addr, err := im.Pages(".debug_frame")
	if err == nil {
		s.add(cfi.OpenPages(cfi.Debug, data, addr, cfi.Options{ABI: abi, Room: im.Reserve, Thunk: thunk}))
	} else {
		s.add(nil, err)
	}
	// If the two contradict each other, debuggers follow .debug_frame, which is made for them. A Go
	// program's .debug_frame is large and compressed, and describes only Go's functions. Its
	// .eh_frame describes none of these.
	if len(s.list) == 2 && !isGo(im) {
		slices.Reverse(s.list)
	}
	return s
}

func hasCodeAtZero(im *elfimage.Image) bool {
	return slices.ContainsFunc(im.ELF().Sections, func(s *elfimage.Section) bool {
		return s.Addr == 0 && s.Size > 0 && s.Flags&elf.SHF_EXECINSTR != 0
	})
}

func isGo(im *elfimage.Image) bool {
	return slices.ContainsFunc(im.ELF().Sections, func(s *elfimage.Section) bool {
		return s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab"
	})
}

func (s *sections) add(section *cfi.Section, err error) {
	switch {
	case err == nil:
		s.list = append(s.list, section)
	case errors.Is(err, elfimage.ErrBudget):
		s.why = leftOut
	}
}

// maxEHFrame bounds .eh_frame, in bytes, if only the end of the segment is known.
const maxEHFrame = 1 << 28

// openEH finds .eh_frame by name, or, in a file without section headers, by
// PT_GNU_EH_FRAME. Then it may reach to the end of its segment.
func openEH(im *elfimage.Image, abi cfi.ABI, thunk func(addr uint64) bool) (*cfi.Section, error) {
	opts := cfi.Options{ABI: abi, Room: im.Reserve, Thunk: thunk}
	if text := im.ELF().Section(".text"); text != nil {
		opts.TextBase = text.Addr
	}
	header, headerAddr, headerErr := im.SegmentPages(elf.PT_GNU_EH_FRAME)
	if headerErr == nil {
		opts.HeaderPages, opts.HeaderAddr = header, headerAddr
	}
	data, addr, err := im.Pages(".eh_frame")
	if errors.Is(err, elfimage.ErrBudget) {
		return nil, err
	}
	if err != nil {
		if headerErr != nil {
			return nil, headerErr
		}
		const most = 64 // bytes up to the address
		begin, ok := header.View(0, min(most, header.Len()))
		if !ok {
			return nil, fmt.Errorf(".eh_frame_hdr: %w", io.ErrUnexpectedEOF)
		}
		if addr, err = cfi.FrameAddress(begin, headerAddr, abi); err != nil {
			return nil, err
		}
		if data, err = im.LoadedPages(addr, maxEHFrame); err != nil {
			return nil, err
		}
	}
	return cfi.OpenPages(cfi.EH, data, addr, opts)
}

// Before returns the end of the last FDE before q.AddressInBlock. It leaves out sections with an
// FDE that covers q.AddressInBlock; ok is false if none is left.
func Before(q *frame.Query) (end uint64, ok bool) {
	if q.Module == nil {
		return 0, false
	}
	s := sectionsOf(q)
	for _, section := range s.list {
		if at, is := section.EndBefore(q.AddressInBlock - s.bias); is {
			end, ok = max(end, at+s.bias), true
		}
	}
	return end, ok
}
