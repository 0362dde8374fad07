package value_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Print the local variables of all frames of a process's first thread.
func ExampleReader_Frame() {
	pid := 4242
	t, err := live.Attach(context.Background(), pid, live.Options{Values: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	threads, err := t.Threads()
	if err != nil || len(threads) == 0 {
		fmt.Println("no thread", err)
		return
	}
	stack, err := frame.New(t, threads[0], sniffer.Table(t.Arch()))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader, memory := value.NewReader(t, symbols, printers.All()), target.MemoryOf(t, threads[0])
	for f, err := range logical.New(t, symbols).All(stack) {
		if err != nil {
			break
		}
		in, err := reader.Frame(&f, memory)
		if err != nil {
			continue // the debug information of the function is broken
		}
		for i := range in.Locals {
			v := &in.Locals[i]
			x := v.Value() // with its Type, Place, Addr, bytes and children
			fmt.Println(v.Name, x.Type, x.Err(), (&value.Printer{}).Text(&x))
		}
		in.Release() // so that the next frame takes its room
	}
}

// rings shows a type of one's own: a list in C, each of whose items leads to the next.
type rings struct{}

func (rings) Name() string { return "rings" }

func (rings) For(t *value.Type) value.Show {
	if t.Kind != value.Struct || t.Name != "ring" {
		return nil // the next printer may know it
	}
	return func(w *value.Writer, v *value.Value) *value.Shown {
		n, ok := v.Member("count")
		count, err := n.Uint()
		if !ok || err != nil {
			return nil // shown as a struct
		}
		return &value.Shown{
			Text: fmt.Sprintf("a ring of %d", count),
			Hint: value.AsArray,
			Children: func(yield func(value.Child, error) bool) {
				item, _ := v.Member("first") // asked for only as far as the Printer's limits go
				for range count {
					to := item.Deref()
					x, ok := to.Member("point")
					if !ok || !yield(value.Child{Value: x}, to.Err()) {
						return
					}
					item, _ = to.Member("next")
				}
			},
		}
	}
}

// Show values of a type of your own, as GDB's pretty printers do.
func ExamplePrettyPrinter() {
	p := startProgram(`
#include <unistd.h>
struct item { struct item *next; struct { int x, y; } point; };
struct ring { unsigned count; struct item *first; };
int main(void)
{
	struct item b = { 0, { 3, 4 } }, a = { &b, { 1, 2 } };
	struct ring ring = { 2, &a };
	b.next = &a;
	char c = write(1, ".", 1);
	return read(0, &c, 1);
}`)
	defer p.stop()
	known := printers.All()
	known.Pretty = append([]value.PrettyPrinter{rings{}}, known.Pretty...) // the first that claims has it
	err := p.locals("main", known, func(name, text string) {
		if name == "ring" {
			fmt.Println(name, "=", text)
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: ring = a ring of 2 = {{x = 1, y = 2}, {x = 3, y = 4}}
}

// program is a small program of C that runs.
type program struct {
	dir string
	cmd *exec.Cmd
	in  io.Closer
}

// startProgram compiles a program, and starts it. The program has written a byte when it is where
// it waits.
func startProgram(source string) *program {
	dir, err := os.MkdirTemp("", "value")
	if err != nil {
		panic(err)
	}
	p := &program{dir: dir}
	path := filepath.Join(dir, "program")
	compile := exec.Command("cc", "-g", "-O0", "-x", "c", "-o", path, "-")
	compile.Stdin = strings.NewReader(source)
	if out, err := compile.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	p.cmd = exec.Command(path)
	p.in, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
	return p
}

func (p *program) stop() {
	p.in.Close()
	p.cmd.Wait()
	os.RemoveAll(p.dir)
}

// locals calls a function with the name and the text of each local variable of a function.
func (p *program) locals(function string, known value.Printers, each func(name, text string)) error {
	t, err := live.Attach(context.Background(), p.cmd.Process.Pid, live.Options{Values: true})
	if err != nil {
		return err
	}
	defer t.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	threads, err := t.Threads()
	if err != nil {
		return err
	}
	stack, err := frame.New(t, threads[0], sniffer.Table(t.Arch()))
	if err != nil {
		return err
	}
	reader, memory := value.NewReader(t, symbols, known), target.MemoryOf(t, threads[0])
	for f, err := range logical.New(t, symbols).All(stack) {
		if err != nil {
			return err
		}
		if f.Function != function {
			continue
		}
		in, err := reader.Frame(&f, memory)
		if err != nil {
			return err
		}
		for i := range in.Locals {
			x := in.Locals[i].Value()
			each(in.Locals[i].Name, (&value.Printer{}).Text(&x))
		}
	}
	return nil
}
