package live_test

import (
	"context"
	"fmt"
	"io"
	"os/exec"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/live"
)

// Read the registers of a process's threads, and see whether each of them is in a file's code. The
// process runs on; package sniffer has examples that walk the stacks.
func ExampleAttach() {
	child := exec.Command("cat")
	in, _ := child.StdinPipe()
	out, _ := child.StdoutPipe()
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return
	}
	io.WriteString(in, "x")
	io.ReadFull(out, make([]byte, 1)) // cat has been started, and reads once more

	t, err := live.Attach(context.Background(), child.Process.Pid, live.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	threads, _ := t.Threads()
	for _, thread := range threads {
		var regs arch.Registers
		if err := thread.Registers(&regs); err != nil {
			fmt.Println(thread.Name(), err) // why this one could not be stopped
			continue
		}
		module := t.Modules().Find(regs.Value[t.Arch().PC])
		fmt.Println(thread.Name(), "is in the code of a file:", module != nil && module.Path != "")
	}

	in.Close()
	fmt.Println("cat ends:", child.Wait())
	// Output:
	// cat is in the code of a file: true
	// cat ends: <nil>
}
