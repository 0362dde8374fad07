//go:build !linux

package command

func shortSlices() {}
