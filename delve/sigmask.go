//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sigmask is the set of signals that a thread blocks (the kernel's sigset_t).
type sigmask [8]byte

// Requests of ptrace(2) that golang.org/x/sys/unix has not, or not for each processor.
const (
	ptraceGetSigMask = 0x420a
	ptraceSetSigMask = 0x420b
)

// sigmask returns the signals that the thread blocks. While a system call waits, it may block
// others, as ppoll(2) does: then sigmask returns the signals that the thread blocks after the call.
// It returns nil if they cannot be known.
func (t *heldThread) sigmask() *sigmask {
	var m sigmask
	if t.ptrace(ptraceGetSigMask, &m) != nil {
		return nil
	}
	return &m
}

func (t *heldThread) setSigmask(m *sigmask) error {
	if err := t.ptrace(ptraceSetSigMask, m); err != nil {
		return fmt.Errorf("thread %d: the signals that it has blocked cannot be put back: %w", t.ID(), err)
	}
	return nil
}

var errTracer = errors.New("this release of Delve keeps its tracer elsewhere")

// ptrace has the one thread of this process that may call ptrace(2) for Delve's target do so. It
// takes functions by a channel that Delve does not export.
func (t *heldThread) ptrace(request uintptr, m *sigmask) error {
	if ok, err := t.process.Proc.Valid(); !ok {
		return err // the channel is closed
	}
	calls, done, err := tracer(reflect.ValueOf(t.proc))
	if err != nil {
		return err
	}
	var errno unix.Errno
	calls <- func() {
		_, _, errno = unix.RawSyscall6(unix.SYS_PTRACE, request, uintptr(t.ID()), unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m)), 0, 0)
	}
	<-done
	if errno != 0 {
		return errno
	}
	return nil
}

// tracer returns the channels of the thread that calls ptrace(2) for a thread of Delve's backend
// native: of the functions to call, and of what it answers when it has called one.
func tracer(thread reflect.Value) (calls chan func(), done chan any, err error) {
	v := thread
	for _, name := range [...]string{"dbp", "ptraceThread"} {
		if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
			return nil, nil, errTracer
		}
		v = v.Elem().FieldByName(name)
	}
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, nil, errTracer
	}
	in, out := v.Elem().FieldByName("ptraceChan"), v.Elem().FieldByName("ptraceDoneChan")
	if !in.IsValid() || !out.IsValid() || in.Type() != reflect.TypeFor[chan func()]() || out.Type() != reflect.TypeFor[chan any]() {
		return nil, nil, errTracer
	}
	return *(*chan func())(in.Addr().UnsafePointer()), *(*chan any)(out.Addr().UnsafePointer()), nil
}
