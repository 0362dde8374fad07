package frame_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Walk the stacks of a recorded process. Targets of live processes and of core files are walked in
// the same way. The program has no C library, so that no table marks its outermost frame: it begins
// at the program's entry, and has argc in the place of a return address.
func ExampleStack() {
	t, err := snapshot.Open("../target/snapshot/testdata/nap-amd64.snapshot", core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
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
				fmt.Println("stop:", err) // why the stack ends early; the frames before are valid
				break
			}
			fmt.Printf("#%d %#x %q\n", f.Level, f.PC(), f.Sniffer())
		}
	}
	// Output:
	// #0 0x40100a "dwarf"
	// #1 0x401011 "dwarf"
	// #2 0x401016 "dwarf"
}

// Take the PCs of a stack as a profiler does. It uses one Walker and one buffer for all stacks.
func ExampleWalker() {
	t, err := snapshot.Open("../target/snapshot/testdata/nap-amd64.snapshot", core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	threads, err := t.Threads()
	if err != nil {
		fmt.Println(err)
		return
	}
	walker := frame.NewWalker(t.Modules(), sniffer.Table(t.Arch()))
	var regs arch.Registers
	pcs := make([]uint64, 512)
	for _, thread := range threads {
		if err := thread.Registers(&regs); err != nil {
			fmt.Println(err)
			continue
		}
		n, stop := walker.Walk(&regs, target.MemoryOf(t, thread), pcs)
		fmt.Printf("%#x %v\n", pcs[:n], stop)
	}
	// Output:
	// [0x40100a 0x401011 0x401016] outermost
}
