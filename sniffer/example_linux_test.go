package sniffer_test

import (
	"context"
	"fmt"
	"os"
	"strconv"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// Print the PCs of every thread of a live process, and who unwound each frame.
func Example() {
	pid, _ := strconv.Atoi(os.Getenv("TARGET"))
	t, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	table := sniffer.Table(t.Arch())
	threads, _ := t.Threads()
	for _, thread := range threads {
		stack, err := frame.New(t, thread, table)
		if err != nil {
			fmt.Println(thread.ID(), err)
			continue
		}
		for f, err := range stack.All() {
			if err != nil {
				fmt.Println("stop:", err)
				break
			}
			fmt.Printf("#%d %#x %s\n", f.Level, f.PC(), f.Sniffer())
		}
	}
}
