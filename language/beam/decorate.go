package beam

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	base := structs.New(s.Arch, s.Memory, &x.pages)
	defer base.Free()
	r := x.reader(base)
	var d language.Decoration
	r.compiled(s, &d)
	scheduler := uint64(0)
	if !s.Later {
		if scheduler = r.scheduler(s); scheduler != 0 {
			r.interpreted(s, scheduler, &d)
			r.beside(s, scheduler, &d)
			if !s.FramesAlone {
				d.Thread.State = r.runs(scheduler)
			}
		}
	}
	r.Err() // what could not be read is not shown
	if len(d.Groups) == 0 && d.Names == nil && d.Thread.State == "" && d.Early == "" {
		return nil, nil
	}
	return &d, nil
}

// compiled adds the frames of compiled functions, which have physical ones.
func (r *reader) compiled(s *language.Stack, d *language.Decoration) {
	for level, f := range s.Frames {
		if f.Type() != frame.Normal && f.Type() != frame.OtherStack {
			continue
		}
		if m := f.Module(); m != nil {
			if m == r.Module && len(d.Groups) > 0 { // what runs Erlang is the run time system's own
				d.Own = append(d.Own, level)
			}
			if _, _, err := m.PeekImage(); err == nil {
				continue
			}
		}
		if fn, ok := r.frameAt(f.AddressInBlock()); ok {
			cfa, _ := f.CFA()
			fn.Place = f.PC()
			d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: []language.Frame{fn}})
			continue
		}
		r.Err()
		shared, ok := r.code.Fragment(f.AddressInBlock())
		if at, begins := r.code.Fragment(f.PC()); begins && at.Lo == f.PC() {
			shared, ok = at, true
		}
		if !ok {
			if s.Later && f.Sniffer() == "beam" { // it was code of Erlang when the stack was walked
				d.Early = unloaded
			}
			continue
		}
		if d.Names == nil {
			d.Names = map[int]string{}
		}
		d.Names[level] = shared.Name
		if shared.Name != schedulerLoop || len(d.Groups) > 0 {
			d.Own = append(d.Own, level)
		}
	}
}

const unloaded = "code was unloaded before its function was read"

// schedulerLoop is the name of the code in which a scheduler waits, if it runs no process.
const schedulerLoop = "process_main"

// scheduler returns the record of the scheduler whose thread a stack is of, 0 if it is of none.
func (r *reader) scheduler(s *language.Stack) uint64 {
	if len(s.Frames) == 0 {
		return 0
	}
	pointer, ok := threadlocal.Pointer(s.Arch, s.Frames[0])
	if !ok {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.threads == nil {
		r.threads = r.Schedulers(r.Reader)
	}
	return r.threads[pointer]
}

// runs says what a scheduler runs.
func (r *reader) runs(scheduler uint64) string {
	if p := r.Pointer(scheduler + r.Of("scheduler.process")); p != 0 && r.isProcess(p) {
		text := "runs process " + r.called(p)
		if r.Uint(p+r.Of("process.state"), 4)&r.Of("state.garbage") != 0 {
			text += ", garbage collecting"
		}
		return text
	}
	r.Err()
	if port := r.Pointer(scheduler + r.Of("scheduler.port")); port != 0 {
		return "runs a port"
	}
	return ""
}

// early says of which process the frames end early; "" if they do not.
func (r *reader) early(p uint64, why string) string {
	if why == "" {
		return ""
	}
	return "process " + r.called(p) + ": " + why
}

// beside adds the frames of a process whose stack the run time system's own frames do not lead to:
// a dirty scheduler runs it in C. They stand at the loop of the scheduler.
func (r *reader) beside(s *language.Stack, scheduler uint64, d *language.Decoration) {
	if len(d.Groups) > 0 {
		return
	}
	p := r.Pointer(scheduler + r.Of("scheduler.process"))
	if p == 0 || !r.isProcess(p) || r.Uint(p+r.Of("process.state"), 4)&(r.Of("state.dirty")|r.Of("state.dirty_system")) == 0 {
		r.Err()
		return
	}
	for level, f := range s.Frames {
		if pc := f.AddressInBlock(); pc < r.dirtyLo || pc >= r.dirtyHi {
			continue
		}
		list, early := r.parked(p)
		frames := r.frames(list)
		d.Early = r.early(p, early)
		if len(frames) > 0 {
			cfa, _ := f.CFA()
			d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: frames})
		}
		for outer := level + 1; outer < len(s.Frames); outer++ {
			if s.Frames[outer].Module() == r.Module {
				d.Own = append(d.Own, outer)
			}
		}
		return
	}
}
