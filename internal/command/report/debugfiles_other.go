//go:build !linux

package report

import "os/exec"

func endsWithThis(*exec.Cmd) {}
