//go:build linux

package minidump

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

// writeStore writes the program's symbols by dump_syms into a store, and behind them records of
// others until the file has size bytes.
func writeStore(dumpSyms, program, store string, size int) error {
	text, err := exec.Command(dumpSyms, program).Output()
	if err != nil {
		return fmt.Errorf("dump_syms %s: %w", program, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	record, err := breakpad.ParseRecord([]byte(line))
	module, ok := record.(breakpad.Module)
	if err != nil || !ok {
		return fmt.Errorf("dump_syms %s: it begins with %q", program, line)
	}
	inside, err := module.StorePath()
	if err != nil {
		return err
	}
	path := filepath.Join(store, inside)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	out.Write(text)
	fill(out, size-len(text))
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// fill writes records as dump_syms writes them of a browser's library: for each function inlined
// calls, lines and changes of its rows.
func fill(out io.Writer, size int) {
	const (
		base, stride         = 0x10000000, 0x200
		files, origins       = 20_000, 60_000
		from                 = 1_000_000 // of their numbers
		inlines, lines, rows = 4, 28, 6
	)
	n := 0
	put := func(format string, args ...any) {
		k, _ := fmt.Fprintf(out, format, args...) // Flush returns the error
		n += k
	}
	for i := 0; i < files && n < size; i++ {
		put("FILE %d /builds/worker/checkouts/gecko/dom/media/module%d/Source%d.cpp\n", from+i, i%977, i)
	}
	for i := 0; i < origins && n < size; i++ {
		put("INLINE_ORIGIN %d mozilla::dom::Holder<nsTArray<RefPtr<mozilla::dom::Thing%d>>>::AppendElement(unsigned int)\n", from+i, i)
	}
	for i := 0; n < size; i++ {
		addr := base + i*stride
		put("FUNC %x 1c0 0 mozilla::layers::CompositorBridgeParent::Function%d(std::string const&, unsigned long)\n", addr, i)
		for k := range inlines {
			put("INLINE %d %d %d %d %x 20\n", k, 100+k, from+i%files, from+(i*7+k)%origins, addr+0x40)
		}
		for k := range lines {
			put("%x 10 %d %d\n", addr+16*k, 40+k, from+(i+k)%files)
		}
		put("STACK CFI INIT %x 1c0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", addr)
		for k := 1; k < rows; k++ {
			put("STACK CFI %x .cfa: $rsp %d + $rbp: .cfa -16 + ^\n", addr+2*k, 8+8*k)
		}
	}
}
