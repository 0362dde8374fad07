package report

import (
	"errors"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/target"
)

// kernelThread says what a thread is that the kernel runs for the process, and that has no user
// stack; "" for an ordinary thread. io_uring and vhost have such threads.
func kernelThread(a *arch.Arch, th target.Thread) string {
	if x, is := th.(*goroutines.Thread); is && x.RunBy == nil {
		return ""
	}
	var regs arch.Registers
	switch err := th.Registers(&regs); {
	case errors.Is(err, target.ErrNoUserContext):
	case err != nil:
		return ""
	default: // core files and stubs have the registers that such a thread was made with: zeros
		pc, sp := regs.Value[a.PC], regs.Value[a.SP]
		if pc != 0 || sp != 0 || !regs.Known.Has(a.PC) || !regs.Known.Has(a.SP) {
			return ""
		}
	}
	for _, kind := range [...]struct{ prefix, is string }{
		{"iou-sqp-", "io_uring's poller of a submission queue"},
		{"iou-wrk-", "a worker of io_uring's"},
		{"vhost-", "a worker of vhost's"},
	} {
		if strings.HasPrefix(th.Name(), kind.prefix) {
			return kind.is
		}
	}
	return "a worker whose registers are zero, as io_uring and vhost have them"
}
