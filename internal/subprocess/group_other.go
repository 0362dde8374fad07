//go:build !unix

package subprocess

import "os/exec"

func ownGroup(*exec.Cmd)  {}
func killGroup(*exec.Cmd) {}
