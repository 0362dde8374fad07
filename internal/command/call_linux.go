package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// call has a process of this machine evaluate expressions.
func call(cmd *cobra.Command, pid int, texts []string, flags *callFlags) error {
	deferred := make(chan struct{})
	go func() { // meanwhile the process's modules are found
		deferStops()
		close(deferred)
	}()
	p, err := native.Open(pid)
	if err != nil {
		return err
	}
	defer p.Close()
	c := &callee{Process: p, source: processSource(p), name: fmt.Sprintf("call %d", pid), exe: p.Exe}
	c.auxv, _ = os.ReadFile(procdir.File(pid, "auxv"))
	if flags.tid == 0 {
		flags.tid = procdir.Thread(pid)
	}
	return c.evaluate(cmd, texts, flags, func() (inferior.Thread, error) {
		<-deferred
		options := native.Options{Threads: []int{flags.tid}}
		if flags.alone {
			options.Threads = nil
		}
		if err := p.Hold(cmd.Context(), options); err != nil {
			return nil, err
		}
		th := p.Thread(flags.tid)
		if th == nil {
			return nil, c.fail(fmt.Errorf("--tid %d: the process has no such thread", flags.tid))
		}
		return th, nil
	})
}

// processSource makes what the other commands print of a process that is held.
func processSource(p *native.Process) *source {
	return &source{
		Target:   p,
		process:  hosts.Process{PID: p.PID},
		root:     procdir.File(p.PID, "root"),
		named:    p.OpenNamed,
		about:    func(doc *document) { doc.PID, doc.Exe = p.PID, p.Exe },
		warnings: p.Warnings,
	}
}
