package language_test

import (
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
)

// FuzzRestore restores what a snapshot may have, and decorates a stack by it.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`[{"language":"python","decoration":{"groups":[{"anchor":{"address":4096},"frames":[{"function":"f","line":3,` +
		`"args":[{"name":"x","value":"1"}]}]}],"own":[0],"names":{"1":"x"},"thread":{"name":"MainThread","holds":[{"kind":"GIL","level":-1}]}},` +
		`"pcs":[{"level":0,"pc":1},{"level":1,"pc":2}]},{"language":"java","error":"none"}]`))
	f.Add([]byte(`[{"decoration":{"groups":[{"frames":[null,null,{}]},null],"own":[-1,9]},"pcs":[{"level":-1}]},null]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		bounds.Hold(t, 4<<20+512*len(text), func() {
			runtimes, err := language.Restore(text)
			if err != nil {
				return
			}
			for _, locals := range []bool{false, true} {
				language.Decorate(&language.Stack{Arch: amd64.Arch, Thread: registerless{}, Locals: locals}, runtimes)
			}
		})
	})
}

// FuzzRestoreTasks restores lists of tasks that are anything.
func FuzzRestoreTasks(f *testing.F) {
	text, err := language.SaveTasks([]language.TaskList{{Language: "x", Tasks: []language.Task{{ID: 1, Frames: []language.Frame{{Function: "f"}}, AwaitedBy: []uint64{2}}}, Error: "one is missing"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		bounds.Hold(t, 4<<20+512*len(text), func() { language.RestoreTasks(text) })
	})
}

// registerless is a thread without registers.
type registerless struct{}

func (registerless) ID() int                         { return 1 }
func (registerless) Name() string                    { return "" }
func (registerless) Registers(*arch.Registers) error { return errors.New("none") }
