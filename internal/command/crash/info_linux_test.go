package crash

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestInfo: --info says of real dumps what minidump_dump says of them.
func TestInfo(t *testing.T) {
	tool := gdbtest.Breakpad(t, "minidump_dump")
	for _, packed := range gdbtest.Glob(t, filepath.Join("..", "..", "..", "testdata", "breakpad", "*.dmp.xz")) {
		path := commandtest.Unpack(t, packed, t.TempDir())
		// It exits with 1 for streams that some of the dumps lack.
		peer, _ := exec.Command(tool, path).Output()
		want := peerFacts(string(peer))
		text, _, err := commandtest.Run("minidump", path, "--info")
		if err != nil || len(want) < 20 {
			t.Fatalf("%s: %v, %d facts", packed, err, len(want))
		}
		got := ownFacts(text)
		for _, fact := range want {
			if !got.has(fact) {
				t.Errorf("%s: minidump_dump has %q", filepath.Base(packed), fact)
			}
		}
		text, _, err = commandtest.Run("minidump", path, "--info", "--json")
		if err != nil {
			t.Fatal(err)
		}
		got = jsonFacts(t, text)
		for _, fact := range want {
			if !got.has(fact) {
				t.Errorf("%s: minidump_dump has %q, and the JSON has not", filepath.Base(packed), fact)
			}
		}
		t.Logf("%s: %d facts", filepath.Base(packed), len(want))
	}
}

var (
	peerField    = regexp.MustCompile(`^  \(?([a-z_0-9.\[\] ]+?)\)? += (.*)$`)
	registerName = regexp.MustCompile(`^(?:[er]?(?:ax|bx|cx|dx|si|di|bp|sp|ip)|r\d+|eflags|[c-gs]s)$`)
)

// peerFacts returns what minidump_dump says, a structure after the other.
func peerFacts(text string) (facts []string) {
	kind, thread := "", "exception"
	fields := map[string]string{}
	hex := func(name string) uint64 {
		v, _, _ := strings.Cut(fields[name], " ")
		n, _ := strconv.ParseUint(v, 0, 64)
		return n
	}
	quoted := func(name string) string { return strings.Trim(fields[name], `"`) }
	add := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	end := func() {
		switch kind {
		case "MDRawDirectory":
			add("stream %#x %#x", hex("location.data_size"), hex("location.rva"))
		case "MDRawThread":
			thread = fmt.Sprint(hex("thread_id"))
			add("thread %s %#x %#x", thread, hex("stack.start_of_memory_range"), hex("stack.memory.data_size"))
		case "MDRawContextX86", "MDRawContextAMD64":
			const segments = 4 // in the flags: the context has them
			for name := range fields {
				if hex("context_flags")&segments == 0 && strings.Contains("ds es fs gs", name) {
					continue
				}
				if registerName.MatchString(name) {
					add("register %s %s %#x", thread, name, hex(name))
				}
			}
		case "MDRawModule":
			base := hex("base_of_image")
			add("module %#x %#x %s", base, base+hex("size_of_image"), quoted("code_file"))
			for _, x := range [][2]string{{"code_identifier", "identifier"}, {"debug_identifier", "symbols"}, {"version", "version"}} {
				// Of systems whose files have no identifier of their own, minidump_dump says "id".
				if v := quoted(x[0]); v != "" && v != "id" && strings.Trim(v, "0") != "" {
					add("%s %#x %s", x[1], base, v)
				}
			}
		case "MDMemoryDescriptor":
			add("memory %d %d %d", hex("start_of_memory_range"), hex("memory.data_size"), hex("memory.rva"))
		case "MDRawMemoryInfo":
			base := hex("base_address")
			add("region %#x %#x %#x %#x %#x", base, base+hex("region_size"), hex("state"), hex("protection"), hex("type"))
		case "MDException":
			thread = "exception"
			add("exception %d %#x %#x %#x %#x", hex("thread_id"), hex("exception_record.exception_code"), hex("exception_record.exception_flags"),
				hex("exception_record.exception_record"), hex("exception_record.exception_address"))
		case "MDRawSystemInfo":
			add("processors %d", hex("number_of_processors"))
		case "MDRawMiscInfo":
			add("process %d", hex("process_id"))
		case "MDRawBreakpadInfo":
			add("written %d %d", hex("dump_thread_id"), hex("requesting_thread_id"))
		}
		kind = ""
		clear(fields)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := peerField.FindStringSubmatch(line); m != nil {
			fields[strings.TrimSpace(m[1])] = m[2]
			continue
		}
		if strings.HasPrefix(line, "MD") {
			end()
			kind = line
		}
	}
	end()
	return facts
}

// infoFacts are the facts of --info. Memory that touches or overlaps is one range there.
type infoFacts struct {
	facts  map[string]bool
	memory [][3]uint64 // from, to, offset
}

func (s infoFacts) has(fact string) bool {
	var lo, size, offset uint64
	if n, _ := fmt.Sscanf(fact, "memory %d %d %d", &lo, &size, &offset); n < 3 {
		return s.facts[fact]
	}
	for at := lo; at < lo+size; {
		before := at
		for _, r := range s.memory {
			if at >= r[0] && at < r[1] && r[2]+at-r[0] == offset+at-lo {
				at = r[1]
			}
		}
		if at == before {
			return false
		}
	}
	return true
}

// ownFacts returns what --info says, in the form of peerFacts.
func ownFacts(text string) infoFacts {
	s := infoFacts{facts: map[string]bool{}}
	add := func(format string, args ...any) { s.facts[fmt.Sprintf(format, args...)] = true }
	number := func(text string) uint64 { n, _ := strconv.ParseUint(text, 0, 64); return n }
	compiled := map[string]*regexp.Regexp{}
	find := func(line, re string) []string {
		if compiled[re] == nil {
			compiled[re] = regexp.MustCompile(re)
		}
		return compiled[re].FindStringSubmatch(line)
	}
	thread, base := "exception", uint64(0)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := find(line, `^  \w+ +(0x[0-9a-f]+) bytes at (0x[0-9a-f]+)$`); m != nil {
			add("stream %#x %#x", number(m[1]), number(m[2]))
		} else if m := find(line, `^Thread (\d+) `); m != nil {
			thread = m[1]
		} else if m := find(line, `^  stack (0x[0-9a-f]+), (0x[0-9a-f]+) bytes$`); m != nil {
			add("thread %s %#x %#x", thread, number(m[1]), number(m[2]))
		} else if m := find(line, `^Exception in thread (\d+): `); m != nil {
			thread = "exception"
			add("its thread %s", m[1])
			base = number(m[1])
		} else if m := find(line, `^  code (0x[0-9a-f]+), flags (0x[0-9a-f]+), record (0x[0-9a-f]+), address (0x[0-9a-f]+),`); m != nil {
			add("exception %d %#x %#x %#x %#x", base, number(m[1]), number(m[2]), number(m[3]), number(m[4]))
		} else if m := find(line, `^  (0x[0-9a-f]+)-(0x[0-9a-f]+) at (0x[0-9a-f]+)$`); m != nil {
			s.memory = append(s.memory, [3]uint64{number(m[1]), number(m[2]), number(m[3])})
		} else if m := find(line, `^  (0x[0-9a-f]+)-(0x[0-9a-f]+) state (0x[0-9a-f]+), protection (0x[0-9a-f]+), type (0x[0-9a-f]+)$`); m != nil {
			add("region %#x %#x %#x %#x %#x", number(m[1]), number(m[2]), number(m[3]), number(m[4]), number(m[5]))
		} else if m := find(line, `^  (0x[0-9a-f]+)-(0x[0-9a-f]+) (.*)$`); m != nil {
			base = number(m[1])
			add("module %#x %#x %s", base, number(m[2]), m[3])
		} else if m := find(line, `^    (version|identifier|symbols) +(?:.* )?(\S+)$`); m != nil {
			add("%s %#x %s", m[1], base, m[2])
		} else if m := find(line, `^  processor .*, (\d+) of them$`); m != nil {
			add("processors %s", m[1])
		} else if m := find(line, `^Process (\d+)$`); m != nil {
			add("process %s", m[1])
		} else if m := find(line, `^The dump was written by thread (\d+), for thread (\d+)$`); m != nil {
			add("written %s %s", m[1], m[2])
		} else if strings.HasPrefix(line, "   ") {
			words := strings.Fields(line)
			for i := 0; i+1 < len(words); i += 2 {
				if n, err := strconv.ParseUint(words[i+1], 16, 64); err == nil {
					add("register %s %s %#x", thread, words[i], n)
				}
			}
		}
	}
	return s
}

// jsonFacts returns what --info --json says, in the form of peerFacts.
func jsonFacts(t *testing.T, text string) infoFacts {
	t.Helper()
	type register struct{ Name, Value string }
	var d struct {
		PID         int
		System      struct{ Processors int }
		Streams     []struct{ Size, Offset uint64 }
		WrittenBy   uint32 `json:"written_by"`
		RequestedBy uint32 `json:"requested_by"`
		Exceptions  []struct {
			TID                 uint32
			Code, Flags, Record string
			Where               string `json:"exception_address"`
			Registers           []register
		}
		Threads []struct {
			TID       uint32
			Stack     string
			Size      uint64 `json:"stack_size"`
			Registers []register
		}
		Modules []struct {
			Name, Base, End, Version string
			DebugID                  string `json:"debug_id"`
			CodeID                   string `json:"code_id"`
		}
		Memory []struct {
			Base, End string
			Offset    uint64
		}
		Regions []struct{ Base, End, State, Protection, Type string }
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	s := infoFacts{facts: map[string]bool{}}
	add := func(format string, args ...any) { s.facts[fmt.Sprintf(format, args...)] = true }
	number := func(text string) uint64 { n, _ := strconv.ParseUint(text, 0, 64); return n }
	add("process %d", d.PID)
	add("processors %d", d.System.Processors)
	add("written %d %d", d.WrittenBy, d.RequestedBy)
	for _, x := range d.Streams {
		add("stream %#x %#x", x.Size, x.Offset)
	}
	for _, x := range d.Exceptions {
		add("exception %d %s %s %s %s", x.TID, x.Code, x.Flags, x.Record, x.Where)
		for _, r := range x.Registers {
			add("register exception %s %s", r.Name, r.Value)
		}
	}
	for _, x := range d.Threads {
		add("thread %d %s %#x", x.TID, x.Stack, x.Size)
		for _, r := range x.Registers {
			add("register %d %s %s", x.TID, r.Name, r.Value)
		}
	}
	for _, m := range d.Modules {
		add("module %s %s %s", m.Base, m.End, m.Name)
		add("version %s %s", m.Base, m.Version)
		add("symbols %s %s", m.Base, m.DebugID)
		add("identifier %s %s", m.Base, m.CodeID)
	}
	for _, m := range d.Memory {
		s.memory = append(s.memory, [3]uint64{number(m.Base), number(m.End), m.Offset})
	}
	for _, r := range d.Regions {
		add("region %s %s %s %s %s", r.Base, r.End, r.State, r.Protection, r.Type)
	}
	return s
}
