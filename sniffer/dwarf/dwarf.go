package dwarf

import (
	"errors"
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
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

// sections are a module's tables.
type sections struct {
	*unwindtables.CFI
	why frame.Answer // why there is no table
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
		row, lo, hi, steps, err := section.RowAt(q.AddressInBlock - s.Bias)
		if steps > long {
			q.CountSearched(steps / fast)
		}
		if err == nil && s.Dead(lo) {
			err = cfi.ErrNotFound
		}
		switch {
		case q.Innermost():
		case (err != nil || hi == q.PC-s.Bias) && s.startsTrampoline(q, section), err == nil && row.Lo+uint64(row.Len) == q.PC-s.Bias && landsAt(q):
			row, _, _, _, err = section.RowAt(q.PC - s.Bias)
		}
		if err == nil {
			row.Lo += s.Bias
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
	f, err := section.Find(pc - s.Bias)
	return err == nil && f.ProgramSize() > long
}

// startsTrampoline reports whether a signal trampoline begins at q.PC. A handler returns to the
// trampoline's first instruction. In most tables the trampoline begins a byte before that, for
// unwinders that look only at PC-1. In other tables PC-1 belongs to another function. If a call
// ends at PC, THIS is that function's frame.
func (s *sections) startsTrampoline(q *frame.Query, section *cfi.Section) bool {
	f, err := section.Find(q.PC - s.Bias)
	if err != nil || !f.CIE.Signal || f.Start != q.PC-s.Bias || s.Dead(f.Start) {
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
		if f, err := section.Find(q.AddressInBlock - s.Bias); err == nil && !s.Dead(f.Start) {
			return f.Start + s.Bias, f.Start + f.Len + s.Bias, true
		}
	}
}

// at returns section number i, or nil behind the last one. The last section is a separate debug
// file's. The first call that asks for it opens the file.
func (s *sections) at(q *frame.Query, i int) *cfi.Section {
	if i < len(s.Sections) {
		return s.Sections[i]
	}
	return s.separate(q, i)
}

func (s *sections) separate(q *frame.Query, i int) *cfi.Section {
	if i > len(s.Sections) || s.ABI.Order == nil || q.Modules.DebugFile == nil {
		return nil
	}
	return q.Module.Memo(separateKey{}, func() any {
		if im := q.Modules.DebugFile(q.Module); im != nil {
			if data, addr, err := im.Pages(".debug_frame"); err == nil {
				opts := cfi.Options{ABI: s.ABI, Room: im.Reserve}
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
		for _, section := range s.Sections {
			f, err := section.Find(pc - s.Bias)
			if err != nil {
				continue
			}
			for row, err := range section.Rows(f) {
				row.Lo += s.Bias
				if err != nil || row.Lo >= pc && !yield(row) {
					return
				}
			}
			return
		}
	}
}

func open(m *target.Module, a *arch.Arch) *sections {
	x := unwindtables.CFIOf(m, a)
	return &sections{x, whyNot(x.Err)}
}

// whyNot says in the sniffer's words why a module has no table.
func whyNot(err error) frame.Answer {
	switch err {
	case elfimage.ErrBudget:
		return leftOut
	case unwindtables.ErrNoImage:
		return noImage
	}
	return noSection
}

// Before returns the end of the last FDE before q.AddressInBlock. It leaves out sections with an
// FDE that covers q.AddressInBlock; ok is false if none is left.
func Before(q *frame.Query) (end uint64, ok bool) {
	if q.Module == nil {
		return 0, false
	}
	s := sectionsOf(q)
	for _, section := range s.Sections {
		if at, is := section.EndBefore(q.AddressInBlock - s.Bias); is {
			end, ok = max(end, at+s.Bias), true
		}
	}
	return end, ok
}
