package record

// state is what a thread did when it was sampled.
type state uint8

const (
	stateUnknown state = iota
	stateRunning
	stateSleeping
	stateDisk
	stateStopped
	stateTraced
	stateRunnable
	stateWaiting
)

// stateNames are the values of the label "state": the kernel's own words where it has them
// (proc_pid_status(5)).
var stateNames = [...]string{stateRunning: "running", stateSleeping: "sleeping", stateDisk: "disk sleep", stateStopped: "stopped", stateTraced: "tracing stop",
	stateRunnable: "runnable", stateWaiting: "waiting"}

// stateOf returns the state that the kernel has a letter for.
func stateOf(letter byte) state {
	switch letter {
	case 'R':
		return stateRunning
	case 'S', 'I':
		return stateSleeping
	case 'D':
		return stateDisk
	case 'T':
		return stateStopped
	case 't':
		return stateTraced
	}
	return stateUnknown
}
