//go:build linux && race

package lookup

func init() { raceDetector = true }
