package frame_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

// Name the functions of a stack that a Walker has walked. A return address may belong to the next
// function, so a caller is looked up at PC-1. Frame 0, and a frame that a signal has interrupted,
// are looked up at PC: PC-1 may belong to the function before.
func ExampleWalker_AddressesInBlock() {
	t, err := core.Open("../internal/demo/target/dead-arm64.core.xz", core.Options{Exe: "../internal/demo/target/dead-arm64"})
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
	names := symbol.New(symbol.Options{})
	defer names.Close()
	walker := frame.NewWalker(t.Modules(), sniffer.Table(t.Arch()))
	var regs arch.Registers
	if err := threads[0].Registers(&regs); err != nil {
		fmt.Println(err)
		return
	}
	pcs := make([]uint64, 64)
	n, _ := walker.Walk(&regs, target.MemoryOf(t, threads[0]), pcs)
	fmt.Printf("%#x\n", pcs[:n])
	fmt.Println("interrupted:", walker.Interrupted()) // the signal frames are at 2 and 5
	walker.AddressesInBlock(pcs[:n])
	for _, address := range pcs[:n] {
		for _, at := range names.Locate(t.Modules(), address) { // inlined calls first
			fmt.Println(at.Function)
		}
	}
	// Output:
	// [0x400308 0x400368 0x5500801000 0x400adc 0x400b14 0x5500801000 0x400bbc 0x400284 0x4002ec]
	// interrupted: [0 2 3 5 6]
	// stop_here
	// on_fault
	//
	// middle
	// on_nested
	//
	// run_nested
	// main
	// _start
}
