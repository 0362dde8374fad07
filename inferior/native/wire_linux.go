package native

import (
	"syscall"

	"github.com/sfwalk/sfwalk/inferior"
)

// op is what the owner asks the guard for.
type op uint8

const (
	opAttach op = iota
	opGet
	opSet
	opSave
	opRestore
	opDrop
	opWrite
	opInsert
	opRemove
	opResume
	opWait
	opInterrupt // has no reply of its own: it ends a wait
	opDetach
)

// request is a message to the guard.
type request struct {
	Op      op
	PID     int
	TIDs    []int
	TID     int
	Note    uint32
	Data    []byte
	Addr    uint64
	Alone   bool
	Step    bool
	Signal  int
	Timeout int64 // of opAttach, nanoseconds
}

// reply is the guard's answer.
type reply struct {
	Errno syscall.Errno
	Err   string // if Errno is 0
	Data  []byte
	N     int
	TIDs  []int // the threads that are held
	Event event
}

// event is an [inferior.Event] without the thread.
type event struct {
	Kind   inferior.EventKind
	TID    int
	Status int
	Signal inferior.Signal
}
