package external_test

import (
	"context"
	"fmt"
	"log"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/live"
)

// A plug-in is started once, and asked about any number of processes.
func Example() {
	const pid = 4242
	ctx := context.Background()
	p, err := external.Start(ctx, external.Options{Path: "/usr/local/lib/sniffer-perfmap"})
	if err != nil {
		log.Fatal(err) // the error says what the program is, what it did, and what to do
	}
	defer p.Close()

	t, err := live.Attach(ctx, pid, live.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	asks := p.Sniffer(external.Target{PID: pid, Live: true, Root: fmt.Sprintf("/proc/%d/root", pid)})
	defer asks.Close()
	table := sniffer.Table(t.Arch())
	external.Insert(table, asks)

	threads, err := t.Threads()
	if err != nil {
		log.Fatal(err)
	}
	stack, err := frame.New(t, threads[0], table)
	if err != nil {
		log.Fatal(err)
	}
	for f, err := range stack.All() {
		if err != nil {
			log.Print(err) // the stack ends early, for this reason
			break
		}
		if s, _, ok := asks.FrameSymbol(f); ok {
			fmt.Println(f, s.Function, s.File, s.Line)
		}
	}
	if err := p.Err(); err != nil {
		log.Print(err) // the plug-in was put out of use; the other sniffers went on
	}
}
