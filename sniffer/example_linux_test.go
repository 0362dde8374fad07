package sniffer_test

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// Print the PCs of every thread of a live process, and the sniffer that unwound each frame.
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
		if err := stack.RetakeIfMovedOn(); err != nil {
			fmt.Println(thread.ID(), err) // frames of another moment say so
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

// Count the places, by their functions, that are on the stacks of a live process, as a profiler
// does.
func ExampleTable() {
	pid, _ := strconv.Atoi(os.Getenv("TARGET"))
	t, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	walker := frame.NewWalker(t.Modules(), sniffer.Table(t.Arch()))
	var regs arch.Registers
	pcs := make([]uint64, 512) // for all stacks
	counts := make(map[uint64]int)
	threads, _ := t.Threads()
	for _, thread := range threads {
		n, stop := 0, frame.NoReason
		walk := func() {
			if err := thread.Registers(&regs); err != nil {
				fmt.Println(thread.ID(), err)
				return
			}
			n, stop = walker.Walk(&regs, target.MemoryOf(t, thread), pcs)
		}
		walk()
		if walker.MovedOn() { // walk it while it is held
			if err := thread.(target.RunningThread).Retake(walk); err != nil {
				fmt.Println(thread.ID(), err)
			}
		}
		if !stop.Whole() {
			fmt.Println(thread.ID(), "stop:", stop)
		}
		walker.AddressesInBlock(pcs[:n]) // a return address may belong to the next function
		for _, address := range pcs[:n] {
			counts[address]++
		}
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	for address, n := range counts {
		for _, at := range names.Locate(t.Modules(), address) {
			fmt.Printf("%d %s\n", n, at.Function)
		}
	}
}
