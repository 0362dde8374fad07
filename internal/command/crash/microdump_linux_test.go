package crash

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
)

// TestMicrodumpX86: of a microdump of Android on x86, what Breakpad's own test expects
// (microdump_processor_unittest.cc, TestProcessX86), and the registers of its record C, at their
// places in CONTEXT (winnt.h).
func TestMicrodumpX86(t *testing.T) {
	path := commandtest.Unpack(t, filepath.Join("..", "..", "..", "testdata", "breakpad", "microdump-x86.log.xz"), t.TempDir())
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	record := regexp.MustCompile(`: C ([0-9A-F]+)`).FindSubmatch(text)
	sp := regexp.MustCompile(`: S 0 ([0-9A-F]+) `).FindSubmatch(text)
	if record == nil || sp == nil {
		t.Fatal("no records C and S")
	}
	context := make([]byte, len(record[1])/2)
	if n, err := fmt.Sscanf(string(record[1]), "%x", &context); n != 1 || len(context) < 0xc8 {
		t.Fatalf("%d bytes, %v", len(context), err)
	}
	out, _, err := commandtest.Run("minidump", path, "--json", "--registers")
	if err != nil && !errors.Is(err, exit.ErrEarly) {
		t.Fatal(err)
	}
	var doc struct {
		Arch   string
		System struct {
			OS, Release, Processor string
			Processors             int
		}
		Modules []struct{ Name string }
		Threads []struct {
			Frames []struct {
				PC, Module string
				Registers  []struct{ Name, Value string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if s := doc.System; doc.Arch != "386" || s.OS != "Android" || s.Processor != "x86" || s.Processors != 4 ||
		s.Release != "asus/WW_Z00A/Z00A:5.0/LRX21V/2.19.40.22_20150627_5104_user:user/release-keys" || len(doc.Modules) != 124 {
		t.Errorf("%s, %+v, %d modules", doc.Arch, s, len(doc.Modules))
	}
	if len(doc.Threads) != 1 || len(doc.Threads[0].Frames) == 0 {
		t.Fatalf("threads %+v", doc.Threads)
	}
	first := doc.Threads[0].Frames[0]
	if first.Module != "libc.so" {
		t.Errorf("frame 0 is in %s", first.Module)
	}
	registers := map[string]string{}
	for _, r := range first.Registers {
		registers[r.Name] = r.Value
	}
	for name, at := range map[string]int{"edi": 0x9c, "esi": 0xa0, "ebx": 0xa4, "edx": 0xa8, "ecx": 0xac, "eax": 0xb0, "ebp": 0xb4, "eip": 0xb8, "esp": 0xc4} {
		if want := fmt.Sprintf("%#x", binary.LittleEndian.Uint32(context[at:])); registers[name] != want {
			t.Errorf("%s is %s, want %s", name, registers[name], want)
		}
	}
	if want := regexp.MustCompile(`(?i)^0x0*` + string(sp[1]) + `$`); !want.MatchString(registers["esp"]) || first.PC != registers["eip"] {
		t.Errorf("esp %s, the record S has %s; pc %s, eip %s", registers["esp"], sp[1], first.PC, registers["eip"])
	}
}
