package minidump

import (
	"encoding/json"
	"fmt"

	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Languages is what languages said of the stacks of a process when its dump was made: JSON that
// this package does not look into.
type Languages struct {
	Threads map[int]json.RawMessage `json:"threads,omitempty"` // [snapshot.Thread.Languages], by thread ID
	Tasks   json.RawMessage         `json:"tasks,omitempty"`   // [snapshot.Snapshot.Tasks]
}

// LanguagesOf returns what a snapshot has of languages, for [minidump.Contents.Languages]; nil if
// it has nothing.
//
// [minidump.Contents.Languages]: https://pkg.go.dev/github.com/sfwalk/sfwalk/format/minidump#Contents
func LanguagesOf(s *snapshot.Snapshot) []byte {
	l := Languages{Threads: map[int]json.RawMessage{}, Tasks: s.Tasks}
	for i := range s.Threads {
		if t := &s.Threads[i]; t.Languages != nil {
			l.Threads[t.TID] = t.Languages
		}
	}
	if len(l.Threads) == 0 && l.Tasks == nil {
		return nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil // it is no JSON
	}
	return text
}

// languagesIn reads what [LanguagesOf] has written.
func languagesIn(text []byte) (l Languages, err error) {
	if len(text) == 0 {
		return l, nil
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return Languages{}, fmt.Errorf("what languages said of the stacks is broken: %w", err)
	}
	return l, nil
}
