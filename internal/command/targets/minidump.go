package targets

import (
	"bytes"
	"os"
	"regexp"
	"strconv"

	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/minidump"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Minidump returns a minidump of a live process's snapshot. The environment is not in it: crash
// reports travel, and it has secrets.
func Minidump(t *live.Target, saved *snapshot.Snapshot) (*format.Contents, error) {
	c, err := minidump.Contents(saved, t.Modules())
	if err != nil {
		return nil, err
	}
	// What cannot be read is left out: the process may have ended.
	c.Linux.Status, _ = t.ProcFile("status")
	c.Linux.CommandLine, _ = t.ProcFile("cmdline")
	c.Linux.CPUInfo, _ = os.ReadFile("/proc/cpuinfo")
	c.Linux.LSBRelease, _ = os.ReadFile("/etc/lsb-release")
	c.System.Version = uname()
	aboutProcessors(&c.System, c.Linux.CPUInfo)
	return c, nil
}

// aboutProcessors fills in what /proc/cpuinfo says.
func aboutProcessors(s *format.System, cpuinfo []byte) {
	s.Processors = len(regexp.MustCompile(`(?m)^processor\s*:`).FindAll(cpuinfo, -1))
	number := func(line string, bits int) uint16 {
		if m := regexp.MustCompile(line).FindSubmatch(cpuinfo); m != nil {
			n, _ := strconv.ParseUint(string(m[1]), 10, bits)
			return uint16(n)
		}
		return 0
	}
	s.Level = number(`(?m)^cpu family\s*:\s*(\d+)`, 16)
	s.Revision = number(`(?m)^model\s*:\s*(\d+)`, 8)<<8 | number(`(?m)^stepping\s*:\s*(\d+)`, 8)
	if m := regexp.MustCompile(`(?m)^vendor_id\s*:\s*(.{1,12})`).FindSubmatch(cpuinfo); m != nil && (s.Processor == format.AMD64 || s.Processor == format.X86) {
		copy(s.CPU[:12], bytes.TrimSpace(m[1]))
	}
}
