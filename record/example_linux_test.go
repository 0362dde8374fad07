package record_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// Sample a process for ten seconds, and write the profile for go tool pprof.
func ExampleStart() {
	r, err := record.Start(record.Options{
		PIDs:  []int{4242},
		Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	stacks := r.Profile().Picture(symbol.New(symbol.Options{}))
	if err := stacks.WritePprof(os.Stdout); err != nil {
		fmt.Println(err)
	}
}
