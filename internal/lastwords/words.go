package lastwords

import (
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Words are the last words of a process, or of one of its threads.
type Words struct {
	Text string // one line or several, without a newline at the end; at most 4 KiB of the process's own text
	From string // where they were found: "glibc's __abort_msg"
}

// Thread is a thread that may be dying.
type Thread struct {
	Target target.Target
	Memory target.Memory // in which the thread's stack was walked
	Frames []Frame       // the innermost first; not more than some dozens are of use
}

// Frame is a physical frame.
type Frame struct {
	Functions []string // demangled: the calls inlined there, the innermost first, then the function
	Lo, Hi    uint64   // the contiguous part of the function that has PC: [Lo, Hi); 0 if it is not known
	PC        uint64
	CFA       uint64          // 0 if it is not known
	Registers *arch.Registers // that are known in the frame
}

// mostFrames bounds the frames that are looked at.
const mostFrames = 128

// Of returns the last words of a thread; none if nothing is certain. A thread in which something
// has raised SIGABRT, or that is about to, has the words that a variable of its C library has.
func Of(th *Thread) []Words {
	f := &finder{memory: newMemory(th.Memory, th.Target.Arch()), Thread: th}
	if f.Memory == nil {
		f.Memory = target.NoMemory
	}
	if len(f.Frames) > mostFrames {
		f.Frames = f.Frames[:mostFrames]
	}
	for _, of := range []func() []Words{f.ofGo, f.ofRust, f.ofCxx, f.ofSanitizer, f.variables, f.ofAssert} {
		if list := of(); len(list) > 0 {
			return list
		}
	}
	return nil
}

// finder finds the words of one thread.
type finder struct {
	*Thread
	*memory
}

// Dying reports whether a thread is dying if it is in a function, by its demangled name: in the C
// library's abort, or in what a language has in its place.
func Dying(function string) bool {
	name := strings.TrimLeft(plainName(function), "_")
	if _, after, ok := strings.Cut(name, "GI_"); ok && len(after) < len(name) {
		name = strings.TrimLeft(after, "_")
	}
	return dying[name] || isRustPanic(function)
}

// dying are functions that do not return, without their leading underscores.
var dying = map[string]bool{
	"abort": true, "assert_fail": true, "assert_fail_base": true, "libc_assert_fail": true, "libc_message": true, "libc_message_impl": true, "libc_fatal": true,
	"std::terminate": true, "std::__glibcxx_assert_fail": true, "cxa_pure_virtual": true, "cxa_deleted_virtual": true,
	"runtime.gopanic": true, "runtime.throw": true, "runtime.fatal": true,
}
