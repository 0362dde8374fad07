package sniffer_test

import (
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
	"github.com/sfwalk/sfwalk/trad"
)

// firmware is a sniffer that knows one function of amd64, which never moves SP.
type firmware struct {
	start uint64
	size  uint32
}

// Name implements [frame.Sniffer].
func (firmware) Name() string { return "firmware" }

// Sniff implements [frame.Sniffer].
func (n firmware) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.AddressInBlock-n.start >= uint64(n.size) {
		return trad.Row{}, "not the firmware's function"
	}
	return trad.Row{
		Lo: n.start, Len: n.size,
		CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: 8},
		RA:  trad.Rule{Kind: trad.Saved, Off: -8}, // from the CFA
		FP:  trad.Rule{Kind: trad.Same},
	}, frame.Claimed
}

// Ask your own sniffer before one of the default sniffers. If it declines, the others
// are asked.
func ExampleTable_before() {
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
	if err := table.Before("dwarf", firmware{start: 0x401000, size: 12}); err != nil {
		fmt.Println(err)
		return
	}
	stack, err := frame.New(t, threads[0], table)
	if err != nil {
		fmt.Println(err)
		return
	}
	for level := range 3 {
		f, err := stack.Frame(level)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("#%d %#x %s\n", f.Level, f.PC(), f.Sniffer())
	}
	// Output:
	// #0 0x40100a firmware
	// #1 0x401011 dwarf
	// #2 0x401016 dwarf
}
