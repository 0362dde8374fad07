package report

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// writable returns the function that lists the memory which a process can change; nil if its target
// does not know that.
func writable(s Source) func() []target.Mapping {
	var all func() []procmaps.Mapping
	switch s := s.(type) {
	case interface {
		Maps(warn func(format string, args ...any)) []procmaps.Mapping
	}:
		all = func() []procmaps.Mapping { return s.Maps(nil) }
	case interface{ Mappings() []procmaps.Mapping }:
		all = s.Mappings
	default:
		return nil
	}
	return func() []target.Mapping { return procmaps.Writable(all(), s.Modules()) }
}

// walker returns the function that walks stacks on which tasks are.
func (l *languages) walker(s Source, flags *Flags) func(target.Thread) ([]*frame.Frame, error) {
	return func(th target.Thread) (list []*frame.Frame, err error) {
		if l.table == nil {
			origin := s.From()
			l.table = flags.Table(s.Arch(), origin.Windows, flags.Plugins.Of(origin.Process))
		}
		stack, err := frame.New(s, th, l.table)
		if err != nil {
			return nil, err
		}
		for f, err := range stack.All() {
			if err != nil || len(list) == mostDecorated {
				break
			}
			list = append(list, f)
		}
		return list, nil
	}
}
