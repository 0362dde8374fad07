package lua

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	if !slices.ContainsFunc(s.Frames, r.isOwn) {
		return nil, nil
	}
	m := reader{structs.New(s.Arch, s.Memory, &r.pages), r.layout}
	defer m.Free()
	states := r.states(m, s)
	if len(states) == 0 {
		return nil, nil
	}
	d := &language.Decoration{}
	p := r.newPlacer(s)
	names := map[uint64]globals{}
	total := 0
	for i, st := range states {
		calls, err := r.calls(m, st)
		if err != nil {
			d.Early = "its frames end early: " + err.Error()
		}
		if total += len(calls); total > mostCalls {
			d.Early = "its frames end early: there are too many"
			break
		}
		if names[st.global] == nil {
			names[st.global] = r.globalsOf(m, st.global)
		}
		outer := uint64(0) // of this state's part of the C stack; 0 for its end
		if i+1 < len(states) {
			outer = st.jump
		}
		d.Groups = append(d.Groups, p.place(m, calls, names[st.global], outer, st.jump)...)
	}
	d.Own = p.hidden(d.Groups)
	return d, nil
}

// isOwn reports whether a physical frame is in the code of the file that has Lua.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}
