package report

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Machine describes this machine: its processors, system and load, the release of Go, and the day.
func Machine() string {
	m := fmt.Sprintf("%d × %s", runtime.NumCPU(), field("/proc/cpuinfo", "model name", ":"))
	if system := field("/etc/os-release", "PRETTY_NAME", "="); system != "" {
		m += ", " + strings.Trim(system, `"`)
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m += ", Linux " + strings.TrimSpace(string(kernel))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(load), " ")
		m += ", load average " + minute
	}
	return m + ", " + runtime.Version() + ", " + time.Now().Format(time.DateOnly)
}

// field returns a value of a file with lines of names and values.
func field(file, name, separator string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		if key, value, found := strings.Cut(lines.Text(), separator); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
