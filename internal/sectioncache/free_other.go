//go:build !linux

package sectioncache

import "os"

func free(*os.Root) int64 { return 0 }
