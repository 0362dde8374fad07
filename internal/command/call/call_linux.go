package call

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// call has a process of this machine evaluate expressions.
func call(cmd *cobra.Command, pid int, texts []string, flags *calls.Flags) error {
	deferred := make(chan struct{})
	go func() { // meanwhile the process's modules are found
		targets.DeferStops()
		close(deferred)
	}()
	p, err := native.Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	c := &calls.Callee{Process: p, Source: calls.ProcessSource(p), Name: fmt.Sprintf("call %d", pid), Exe: p.Exe}
	c.Auxv, _ = os.ReadFile(procdir.File(pid, "auxv"))
	if flags.TID == 0 {
		flags.TID = procdir.Thread(pid)
	}
	return c.Evaluate(cmd, texts, flags, func() (inferior.Thread, error) {
		<-deferred
		options := native.Options{Threads: []int{flags.TID}}
		if flags.Alone {
			options.Threads = nil
		}
		if err := p.Hold(cmd.Context(), options); err != nil {
			return nil, err
		}
		th := p.Thread(flags.TID)
		if th == nil {
			return nil, c.Fail(fmt.Errorf("--tid %d: the process has no such thread", flags.TID))
		}
		return th, nil
	})
}
