package jobcontrol

import (
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Defer makes the signals of job control wait, as described for the package, until restore is called.
// It leaves those alone that this process ignores.
func Defer() (restore func()) {
	var stops []os.Signal
	for _, sig := range [...]syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
		if !ignored(sig) {
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

var ignoredMask = regexp.MustCompile(`(?m)^SigIgn:\s*([0-9a-f]+)$`)

// ignored reports whether a signal is ignored, as this process was started or by its own wish.
func ignored(sig syscall.Signal) bool {
	text, _ := os.ReadFile("/proc/self/status")
	m := ignoredMask.FindSubmatch(text)
	if m == nil {
		return signal.Ignored(sig)
	}
	mask, _ := strconv.ParseUint(string(m[1]), 16, 64)
	return mask>>(sig-1)&1 != 0
}
