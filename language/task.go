package language

import "github.com/sfwalk/sfwalk/target"

// Tasker is a [Runtime] whose language has tasks that are no threads of the system: coroutines,
// virtual threads, greenlets. They may wait where no thread has them on its stack.
type Tasker interface {
	Runtime
	// Tasks lists the tasks, in the order in which they were made where that is known. m is of one
	// moment if the process allows it. What was found is returned with an error, which says why the
	// list is not whole.
	Tasks(m target.Memory) ([]Task, error)
}

// Task is one task.
type Task struct {
	ID     uint64  // tells it from the other tasks of its run time: the address of its object
	Number uint64  // by which the language's own dumps call it; 0 if there is none
	Name   string  // as the program calls it: "Task-1"; "" if it has no name
	Kind   string  // what the language calls it: "asyncio task", "virtual thread"
	State  string  // "waiting", "running", "runnable", "done"
	Thread int     // the ID of the thread that runs it, or whose loop will; 0 if that is not known
	Frames []Frame // the innermost first
	// AwaitedBy are the IDs of the tasks that wait for this one.
	AwaitedBy []uint64
	// Links are what ends together with the task, and ends it, as the language writes it: processes
	// of Erlang.
	Links []string
	// Waits are what it waits for, beside other tasks.
	Waits []Lock
	// Early says why Frames end before they should; "" if they do not.
	Early string
}
