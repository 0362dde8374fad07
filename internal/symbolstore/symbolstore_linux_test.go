package symbolstore

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// TestIdentifier: a program is identified by its build ID, and without one by the code that objdump shows.
func TestIdentifier(t *testing.T) {
	for _, flag := range []string{"-Wl,--build-id=sha1", "-Wl,--build-id=none"} {
		program := gdbtest.Build(t, "chain.c", "-O1", flag)
		im, file, err := elfimage.OpenFile(program)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		got, err := Identifier(im)
		if err != nil {
			t.Fatal(err)
		}
		// What is wanted is 16 bytes: those of the build ID, or a sum.
		var want [16]byte
		if strings.HasSuffix(flag, "sha1") {
			out, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
			_, id, ok := strings.Cut(string(out), "Build ID: ")
			if err != nil || !ok {
				t.Fatalf("readelf: %v\n%s", err, out)
			}
			for i := range want {
				fmt.Sscanf(id[2*i:2*i+2], "%02x", &want[i])
			}
		} else {
			out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "-O", "binary", "-j", ".text", program, "/dev/stdout").Output()
			if err != nil || len(out) < 64 {
				t.Fatalf("objcopy: %v, %d bytes", err, len(out))
			}
			if len(out) < 4096 { // what is behind the section counts up to a whole block; here that is filled with zeros
				out = append(out, make([]byte, -len(out)&15)...)
			}
			for i, c := range out[:min(len(out), 4096)] {
				want[i%16] ^= c
			}
		}
		text := fmt.Sprintf("%08X%04X%04X%X0", binary.LittleEndian.Uint32(want[:]), binary.LittleEndian.Uint16(want[4:]), binary.LittleEndian.Uint16(want[6:]), want[8:])
		if got != text {
			t.Errorf("%s: %s, want %s", flag, got, text)
		}
	}
}
