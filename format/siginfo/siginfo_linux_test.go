package siginfo

import (
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
)

// Siginfo is laid out by hand as asm-generic/siginfo.h has it.
func TestRead(t *testing.T) {
	info := func(signo, code int32, rest string) []byte {
		b := make([]byte, 128)
		amd64.Arch.Order.PutUint32(b, uint32(signo))
		amd64.Arch.Order.PutUint32(b[8:], uint32(code))
		data, _ := hex.DecodeString(rest)
		copy(b[16:], data)
		return b
	}
	for _, tt := range []struct {
		data []byte
		want Info
	}{
		{info(11, 1, "efbe"), Info{Number: 11, Name: "SIGSEGV", Code: 1, CodeName: "SEGV_MAPERR", Addr: 0xbeef, HasAddr: true}},
		{info(7, 2, "0010"), Info{Number: 7, Name: "SIGBUS", Code: 2, CodeName: "BUS_ADRERR", Addr: 0x1000, HasAddr: true}},
		{info(11, 0x80, ""), Info{Number: 11, Name: "SIGSEGV", Code: 0x80, CodeName: "SI_KERNEL"}},
		{info(11, 99, "01"), Info{Number: 11, Name: "SIGSEGV", Code: 99, Addr: 1, HasAddr: true}},
		{info(6, -6, "2a"), Info{Number: 6, Name: "SIGABRT", Code: -6, CodeName: "SI_TKILL", Sender: 42}},
		{info(15, 0, "2a"), Info{Number: 15, Name: "SIGTERM", CodeName: "SI_USER", Sender: 42}},
		{info(35, -1, "2a"), Info{Number: 35, Name: "SIG35", Code: -1, CodeName: "SI_QUEUE", Sender: 42}},
	} {
		if got, ok := Read(tt.data, amd64.Arch); !ok || got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
	for _, data := range [][]byte{nil, info(0, 0, ""), info(-5, 0, ""), info(65, 0, "")} {
		if got, ok := Read(data, amd64.Arch); ok {
			t.Errorf("%x: %+v", data, got)
		}
	}
	// The names are the C library's.
	out, err := exec.Command("sh", "-c", "kill -l 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31").Output()
	if names := strings.Fields(string(out)); err == nil && len(names) == 31 {
		for i, name := range names {
			if name == "POLL" || name == "IOT" {
				continue // other names of IO and ABRT
			}
			if Name(i+1) != "SIG"+name {
				t.Errorf("signal %d is %s, the shell has %s", i+1, Name(i+1), name)
			}
		}
	}
}
