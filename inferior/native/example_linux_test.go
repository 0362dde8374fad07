package native_test

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
)

// Have a live process call getpid(). Whatever happens to this program meanwhile, the process goes
// on as it was.
func ExampleAttach() {
	ctx := context.Background()
	p, err := native.Attach(ctx, 4242, native.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	threads, err := p.Threads()
	if err != nil {
		fmt.Println(err)
		return
	}
	caller, err := inferior.NewCaller(p, threads[0].(inferior.Thread))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range p.Modules().All() {
		im, bias, err := m.Image()
		if err != nil {
			continue
		}
		for _, s := range im.Lookup("getpid", 1) {
			result, err := caller.Call(ctx, bias+s.Addr, &abi.Func{Result: &abi.Type{Kind: abi.Integer, Size: 4, Signed: true}}, nil)
			fmt.Println(result, err)
			return
		}
	}
}
