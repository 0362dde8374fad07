package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/inferior"
	stubbed "github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/target/remote"
)

// checkCalls finds mistakes in the flags about calls before a target is touched.
func checkCalls(cmd *cobra.Command, texts []string, flags *callFlags) error {
	for _, text := range texts {
		if err := expression.Check(text); err != nil {
			return exit.Misuse(fmt.Errorf("--call: %w", err))
		}
	}
	switch {
	case flags.timeout < 0:
		return exit.Misuse(fmt.Errorf("--call-timeout %v: want a time, such as 2s", flags.timeout))
	case len(texts) == 0 && (cmd.Flags().Changed("call-timeout") || flags.alone):
		return exit.Misuse(errors.New("--call-timeout and --alone are for --call"))
	case len(texts) > 0 && len(flags.tids) > 1:
		return exit.Misuse(errors.New("--call: one thread makes the calls, want one --tid"))
	}
	return nil
}

// callRemote has a stub's target evaluate expressions.
func callRemote(cmd *cobra.Command, addr string, opts remote.Options, texts []string, flags *callFlags) error {
	p, err := stubbed.Dial(cmd.Context(), addr, opts)
	if err != nil {
		return err
	}
	defer p.Close()
	c := remoteCallee(p, addr, opts.Sysroot)
	return c.evaluate(cmd, texts, flags, func() (inferior.Thread, error) {
		threads := p.Inferiors()
		if len(threads) == 0 {
			return nil, c.fail(errors.New("the target has no threads"))
		}
		if len(flags.tids) == 0 {
			return threads[0], nil
		}
		i := slices.IndexFunc(threads, func(th inferior.Thread) bool { return th.ID() == flags.tids[0] })
		if i < 0 {
			return nil, c.fail(fmt.Errorf("--tid %d: the target has no such thread", flags.tids[0]))
		}
		return threads[i], nil
	})
}

// remoteCallee makes a callee of a stub's target.
func remoteCallee(p *stubbed.Process, addr, root string) *callee {
	c := &callee{Process: p, name: "remote " + addr, remote: addr, exe: p.Exe()}
	c.auxv, _ = p.Auxv()
	c.source = &source{
		Target:   p,
		process:  hosts.Process{PID: p.PID(), Root: root},
		root:     root,
		about:    func(doc *document) { doc.Remote, doc.PID, doc.Exe = addr, p.PID(), p.Exe() },
		warnings: p.Warnings,
	}
	return c
}
