//go:build !linux

package profile

import "github.com/sfwalk/sfwalk/target/live"

// startedCommand is a command that runs as a child.
type startedCommand struct{ pid int }

func startStopped([]string) (*startedCommand, error) { return nil, live.ErrUnsupported }

func (s *startedCommand) letGo() {}

func (s *startedCommand) discard() {}

func (s *startedCommand) wait() error { return nil }
