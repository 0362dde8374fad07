package language

import (
	"encoding/json"
	"fmt"
)

// TaskList are the tasks of one run time.
type TaskList struct {
	Language string `json:"language"`
	Tasks    []Task `json:"tasks"`
	Error    string `json:"error,omitempty"` // why the list is not whole
}

// SaveTasks returns lists of tasks as text for [RestoreTasks]. It fails if they are too many.
func SaveTasks(lists []TaskList) ([]byte, error) {
	text, err := json.Marshal(lists)
	if err == nil && tooLarge(text) {
		err = errSavedTasks
	}
	return text, err
}

var errSavedTasks = fmt.Errorf("the tasks of languages have more than %d bytes or %d parts", mostSaved, mostCommas)

// RestoreTasks returns the lists that [SaveTasks] has written.
func RestoreTasks(text []byte) (lists []TaskList, err error) {
	if tooLarge(text) {
		return nil, errSavedTasks
	}
	if err := json.Unmarshal(text, &lists); err != nil {
		return nil, fmt.Errorf("the tasks of languages are broken: %w", err)
	}
	return lists[:min(len(lists), mostRuntimes)], nil
}
