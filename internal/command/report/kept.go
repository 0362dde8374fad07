package report

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Decorated is a [Source] that may have what languages said of its stacks when these were copied.
type Decorated interface {
	// Languages returns what [language.Save] has made for a thread; nil if that is not known.
	Languages(target.Thread) []byte
}

// mostKept bounds what [KeptLanguages] keeps of all threads together, bytes: a snapshot has it in
// its note, whose size is bounded.
const mostKept = 8 << 20

// KeptLanguages is what languages said of the stacks of a process, for a snapshot.
type KeptLanguages struct {
	mu   sync.Mutex
	size int
	of   map[int][]byte // by thread ID; nil for what is too large

	tasks   []byte // nil if none were listed, or they are too large
	noTasks error  // why they are not kept
}

// NewKeptLanguages returns a KeptLanguages that has nothing.
func NewKeptLanguages() *KeptLanguages { return &KeptLanguages{of: map[int][]byte{}} }

// keep keeps what run times have said of a stack, in the place of what they said of the thread
// before. A nil *KeptLanguages keeps nothing.
func (k *KeptLanguages) keep(s *language.Stack, runtimes []language.Named, d *language.Decorated) {
	if k == nil {
		return
	}
	text, err := language.Save(s, runtimes, d)
	k.mu.Lock()
	defer k.mu.Unlock()
	tid := s.Thread.ID()
	k.size -= len(k.of[tid])
	if err != nil || k.size+len(text) > mostKept {
		text = nil
	}
	k.size += len(text)
	k.of[tid] = text
}

// keepTasks keeps the tasks of all run times. A nil *KeptLanguages keeps nothing.
func (k *KeptLanguages) keepTasks(lists []language.TaskList) {
	if k == nil {
		return
	}
	if k.tasks, k.noTasks = language.SaveTasks(lists); k.noTasks != nil {
		k.tasks = nil
	}
}

// AddTasksTo adds the tasks that were kept to a snapshot of the same process. The error says why
// they are not there.
func (k *KeptLanguages) AddTasksTo(s *snapshot.Snapshot) error {
	s.Tasks = k.tasks
	return k.noTasks
}

// AddTo adds what was kept to a snapshot of the same process. It returns the number of the threads
// of which that is too large.
func (k *KeptLanguages) AddTo(s *snapshot.Snapshot) (left int) {
	for i := range s.Threads {
		th := &s.Threads[i]
		text, asked := k.of[th.TID]
		if th.Languages = text; asked && text == nil {
			left++
		}
	}
	return left
}

// findSaved notes that the source has what languages said of its stacks. It returns the decorators
// of the other languages: memory on the heap may be of another moment than a saved stack, so what
// was said then is better.
func (l *languages) findSaved(s Source, list []language.Decorator) []language.Decorator {
	from, ok := s.(Decorated)
	if !ok {
		return list
	}
	threads, _ := s.Threads()
	for _, th := range threads {
		text := from.Languages(th)
		if text == nil {
			continue
		}
		l.saved = true
		runtimes, err := language.Restore(text)
		if err != nil {
			continue // the walk of the thread says so
		}
		l.savedOf = runtimes
		list = slices.DeleteFunc(slices.Clone(list), func(d language.Decorator) bool {
			return slices.ContainsFunc(runtimes, func(r language.Named) bool { return r.Language == d.Name() })
		})
		break // all threads have been asked by the same run times
	}
	return list
}

// restored returns the run times whose words about a thread are saved.
func (w *Walker) restored(th target.Thread) []language.Named {
	from, ok := w.Target.(Decorated)
	if !ok || !w.languages.saved {
		return nil
	}
	text := from.Languages(th)
	if text == nil {
		return nil
	}
	runtimes, err := language.Restore(text)
	if err != nil {
		w.languages.note(th.ID(), &language.Decorated{Warnings: []string{fmt.Sprintf("thread %d: %v", th.ID(), err)}})
	}
	return runtimes
}
