package languagetest

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Tasker returns what lists the tasks of a target by a decorator, as the command has it do so:
// symbols reads debug information, and maps returns what is mapped.
func Tasker(t testing.TB, tg target.Target, maps func() []procmaps.Mapping, symbols *symbol.Symbolizer, d language.Decorator) language.Tasker {
	t.Helper()
	table := sniffer.Table(tg.Arch())
	runtimes, err := language.Find(&language.Process{
		Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules(), Threads: tg.Threads,
		Symbols:  func() *symbol.Symbolizer { return symbols },
		Writable: func() []target.Mapping { return procmaps.Writable(maps(), tg.Modules()) },
		Walk: func(th target.Thread) (list []*frame.Frame, err error) {
			s, err := frame.New(tg, th, table)
			if err != nil {
				return nil, err
			}
			for f, err := range s.All() {
				if err != nil {
					break
				}
				list = append(list, f)
			}
			return list, nil
		},
	}, []language.Decorator{d})
	if err != nil {
		t.Fatal(err)
	}
	if len(runtimes) != 1 {
		t.Fatalf("%d run times", len(runtimes))
	}
	return runtimes[0].Runtime.(language.Tasker)
}
