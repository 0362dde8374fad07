//go:build !linux

package debugfiles

import "os/exec"

func endsWithThis(*exec.Cmd) {}
