package minidump

import (
	"bytes"
	"strconv"
	"strings"
)

// Linux has what Breakpad's client copies from /proc, as it is there.
type Linux struct {
	CPUInfo, Status, LSBRelease, CommandLine, Environment, Auxv, Maps []byte
}

func (f *File) readLinux(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	switch x := &f.Linux; s.Type {
	case LinuxCPUInfo:
		x.CPUInfo = b
	case LinuxProcStatus:
		x.Status = b
	case LinuxLSBRelease:
		x.LSBRelease = b
	case LinuxCommandLine:
		x.CommandLine = b
	case LinuxEnvironment:
		x.Environment = b
	case LinuxAuxv:
		x.Auxv = b
	case LinuxMaps:
		x.Maps = b
	}
	return nil
}

// PID returns the process's ID, 0 if the dump does not say.
func (f *File) PID() int {
	if f.Misc.PID != 0 {
		return int(f.Misc.PID)
	}
	for line := range bytes.Lines(f.Linux.Status) {
		if text, ok := bytes.CutPrefix(line, []byte("Tgid:")); ok {
			pid, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 31)
			return int(pid)
		}
	}
	return 0
}
