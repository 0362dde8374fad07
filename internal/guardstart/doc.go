// Package guardstart starts the guards of package inferior/native. It needs little, so that it is there before other
// packages are initialised: a guard takes some milliseconds to begin.
package guardstart
