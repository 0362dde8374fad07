package snapshot_test

import (
	"fmt"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Open a process that was saved elsewhere: its stacks can be walked as a live process's stacks.
func ExampleOpen() {
	t, err := snapshot.Open("testdata/nap-amd64.snapshot", core.Options{})
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
	fmt.Println(t.Arch().Name, len(threads))
	// Output: amd64 1
}
