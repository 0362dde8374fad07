package goroutine_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target/live"
)

func Example() {
	t, err := live.Attach(context.Background(), 4242, live.Options{Consistent: true})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	runtime, err := goroutine.Find(t)
	if errors.Is(err, goroutine.ErrNotGo) {
		fmt.Println("it is no Go program")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	list, err := runtime.All()
	if err != nil {
		log.Print(err) // the goroutines that could be read are listed
	}
	for _, g := range list {
		fmt.Printf("goroutine %d [%v %s] on thread %d, PC %#x\n", g.Number, g.Status, g.Reason, g.Thread, g.PC)
	}
}
