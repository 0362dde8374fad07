package jobcontrol

import (
	"bytes"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Defer makes the signals of job control wait, as described for the package, until restore is
// called. It leaves those alone that this process ignores.
func Defer() (restore func()) {
	var stops []os.Signal
	ignored := ignoredSignals()
	for _, sig := range [...]syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
		if ignored>>(sig-1)&1 == 0 {
			stops = append(stops, sig)
		}
	}
	if len(stops) == 0 {
		return func() {}
	}
	came, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, stops...)
	go func() {
		for {
			select {
			case sig := <-came:
				mu.Lock()
				for holds > 0 {
					freed.Wait()
				}
				select {
				case sig = <-came: // has waited, too: one stop is enough
				default:
				}
				stop(sig.(syscall.Signal)) // until somebody lets us go on
				mu.Unlock()
			case <-done:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(came)
		close(done)
	})
}

// stop does what the signal does to a process that does not catch it. In a process group without a
// shell that could continue this process, that is nothing.
func stop(sig syscall.Signal) {
	// The kernel's struct sigaction; all zeros is SIG_DFL. Go's own way back, signal.Stop, has the
	// signal ignored.
	var usual, ours [128]byte
	const setSize = 8 // of sigset_t, bytes
	act := func(to, from *[128]byte) unix.Errno {
		_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(from)), setSize, 0, 0)
		return e
	}
	// Sent to this thread, it has stopped all of them when the call returns.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if act(&usual, &ours) != 0 {
		return
	}
	unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
	act(&ours, nil)
}

// ignoredSignals returns the signals that are ignored, as this process was started or by its own
// wish: signal number 1 is the lowest bit.
func ignoredSignals() (mask uint64) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(text) {
		if digits, ok := bytes.CutPrefix(line, []byte("SigIgn:")); ok {
			mask, _ = strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 64)
		}
	}
	return mask
}
