package command

import (
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
)

// command is [commandtest.Run].
func command(args ...string) (stdout, stderr string, err error) { return commandtest.Run(args...) }
