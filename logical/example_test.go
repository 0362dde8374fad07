package logical_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Show the stack of a recorded process as GDB's bt does.
func Example() {
	t, err := snapshot.Open(folder+"/example.snapshot", core.Options{Exe: folder + "/example"})
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
	stack, err := frame.New(t, threads[0], sniffer.Table(t.Arch()))
	if err != nil {
		fmt.Println(err)
		return
	}
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	view := logical.New(t, symbols) // one for all stacks of the target
	for f, err := range view.All(stack) {
		if err != nil {
			fmt.Println(err) // the stack ends early, for this reason
			break
		}
		fmt.Printf("#%d %v %#x %s:%d\n", f.Level, f.Type, f.PC, f.Function, f.Line)
		if why := view.Explain(&f); why != "" {
			fmt.Println("   ", why)
		}
	}
	// Output:
	// #0 normal 0x400157 wait_here:9
	// #1 tailcall 0x400178 respond:14
	//     tail call: respond jumps to wait_here before 0x400178
	// #2 tailcall 0x400198 dispatch:19
	//     tail call: dispatch jumps to respond before 0x400198
	// #3 inline 0x4001a5 serve:23
	// #4 normal 0x4001a5 run:28
	//     tail calls: it calls dispatch
	// #5 normal 0x4001d0 _start:32
}
