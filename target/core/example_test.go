package core_test

import (
	"fmt"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/target/core"
)

// Open a core file of another machine, and say how the process died.
func Example() {
	t, err := core.Open("../../internal/demo/target/dead-arm64.core.xz", core.Options{Exe: "../../internal/demo/target/dead-arm64"})
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
	fmt.Printf("a process on %s, of %d threads, died by signal %d\n", t.Arch().Name, len(threads), t.Signal.Number)
	// Output: a process on arm64, of 1 threads, died by signal 6
}
