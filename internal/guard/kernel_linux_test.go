package guard

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch/control"
)

// The constants equal the constants of golang.org/x/sys/unix.
func TestKernel(t *testing.T) {
	for i, pair := range [][2]uint64{
		{ptraceCont, unix.PTRACE_CONT}, {ptraceSingleStep, unix.PTRACE_SINGLESTEP}, {ptraceDetach, unix.PTRACE_DETACH}, {ptraceSyscall, unix.PTRACE_SYSCALL},
		{ptraceGetEvent, unix.PTRACE_GETEVENTMSG}, {ptraceGetSigInfo, unix.PTRACE_GETSIGINFO}, {ptraceSetSigInfo, unix.PTRACE_SETSIGINFO},
		{ptraceGetRegSet, unix.PTRACE_GETREGSET}, {ptraceSetRegSet, unix.PTRACE_SETREGSET}, {ptraceSeize, unix.PTRACE_SEIZE},
		{ptraceInterrupt, unix.PTRACE_INTERRUPT}, {ptraceListen, unix.PTRACE_LISTEN}, {ptracePeek, unix.PTRACE_PEEKSIGINFO},
		{ptraceGetSigMask, unix.PTRACE_GETSIGMASK}, {ptraceSetSigMask, unix.PTRACE_SETSIGMASK},
		{eventFork, unix.PTRACE_EVENT_FORK}, {eventVfork, unix.PTRACE_EVENT_VFORK}, {eventClone, unix.PTRACE_EVENT_CLONE}, {eventExec, unix.PTRACE_EVENT_EXEC},
		{eventVforkDone, unix.PTRACE_EVENT_VFORK_DONE}, {eventExit, unix.PTRACE_EVENT_EXIT}, {eventStop, unix.PTRACE_EVENT_STOP},
		{traceAlways, unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEVFORKDONE},
		{traceThreads, traceAlways | unix.PTRACE_O_TRACECLONE},
		{waitNoHang, unix.WNOHANG}, {waitStopped, unix.WSTOPPED}, {waitExited, unix.WEXITED}, {waitNoWait, unix.WNOWAIT}, {waitAll, unix.WALL},
		{pollIn, unix.POLLIN}, {sysCloseRange, unix.SYS_CLOSE_RANGE}, {closeRangeCloexec, unix.CLOSE_RANGE_CLOEXEC}, {uint64(control.ByName(runtime.GOARCH).Kcmp), unix.SYS_KCMP},
	} {
		if pair[0] != pair[1] {
			t.Errorf("constant %d is %#x, want %#x", i, pair[0], pair[1])
		}
	}
}

// A guard waits for the initialisation of these.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Fields(string(out))
	for _, late := range []string{"bufio", "encoding/binary", "fmt", "reflect", "strings", "golang.org/x/sys/unix", "github.com/sfwalk/sfwalk/arch"} {
		if slices.Contains(list, late) {
			t.Errorf("the guard imports %s", late)
		}
	}
	if len(list) < 30 {
		t.Errorf("it imports %v", list)
	}
}
