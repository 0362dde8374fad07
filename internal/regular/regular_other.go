//go:build !linux

package regular

import "os"

func open(name string) (*os.File, error) { return openPlainly(name, os.Stat, os.OpenFile) }

func openBelow(a At) (*os.File, error) { return openResolved(a) }

func statBelow(a At) (os.FileInfo, error) { return statResolved(a) }
