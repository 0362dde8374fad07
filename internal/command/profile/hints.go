package profile

import (
	"errors"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// hints returns what helps where functions of a profile have no names. The caller fills in what is
// known of the process, but for its modules: the profile has them.
func (s *shown) hints(stacks *picture.Stacks, flags *report.Flags, about hints.About) []hints.Line {
	var seen hints.Seen
	known := map[*picture.Module]*target.Module{}
	for i := range stacks.Places {
		p := &stacks.Places[i]
		switch {
		case p.Module != nil:
			m, ok := known[p.Module]
			if !ok {
				m = s.namer.Module(p.Module.Path, p.Module.Lo)
				known[p.Module] = m
				if m != nil && !slices.Contains(about.Modules, m) {
					about.Modules = append(about.Modules, m)
				}
			}
			if m != nil {
				seen.Add(p.Address, m, p.Function)
			}
		case p.Address != 0 && !strings.HasPrefix(p.Name, "[kernel]"):
			seen.Add(p.Address, nil, p.Function)
		}
	}
	about.Languages = s.profile.Languages()
	about.Lacks, about.Held = s.symbols.Lacks, true
	about.Refused = func(m *target.Module) bool {
		return slices.ContainsFunc(s.symbols.Warnings(m), func(err error) bool { return errors.Is(err, symbol.ErrMismatch) })
	}
	about.Servers, about.ServersUnasked = len(flags.Debug.Servers.URLs) > 0, flags.Debug.Unasked
	return seen.Lines(&about)
}

// aboutRecorded is what is known of processes of this machine. Of several, each may have a root of
// its own.
func aboutRecorded(pids []int) hints.About {
	if len(pids) != 1 {
		return hints.About{}
	}
	return hints.About{PID: pids[0], Live: true, Root: procdir.File(pids[0], "root")}
}
