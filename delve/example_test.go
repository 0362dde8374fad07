//go:build linux && (amd64 || arm64)

package delve_test

import (
	"fmt"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/delve"
)

// Print the stack of a goroutine at two stops of a process that Delve controls.
func ExampleStacktrace() {
	_ = func(group *proc.TargetGroup, proceed func() error) error {
		t, err := delve.NewTarget(group.Selected) // a target.Target; its table is t.Table
		if err != nil {
			return err // neither amd64 nor arm64, or not Linux
		}
		defer t.Close()
		for {
			stack, err := delve.Stacktrace(t, delve.Goroutine(17), 50) // or delve.Thread(4243)
			if err != nil {
				return err
			}
			for _, f := range stack {
				fmt.Println(f.Function.Name(), f.File, f.Line)
			}
			if err := proceed(); err != nil { // the process runs, and stops again
				return err
			}
			if err := t.Refresh(); err != nil {
				return err
			}
		}
	}
}
