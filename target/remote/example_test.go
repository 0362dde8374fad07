package remote_test

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/remote"
)

// Walk the stacks of what a gdbserver holds: gdbserver --attach :1234 PID.
func ExampleDial() {
	t, err := remote.Dial(context.Background(), "localhost:1234", remote.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close() // lets the process go
	threads, err := t.Threads()
	if err != nil {
		fmt.Println(err)
		return
	}
	table := sniffer.Table(t.Arch())
	for _, thread := range threads {
		stack, err := frame.New(t, thread, table)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for f, err := range stack.All() {
			if err != nil {
				break
			}
			fmt.Printf("#%d %#x\n", f.Level, f.PC())
		}
	}
}
