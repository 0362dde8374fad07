//go:build cgo

package main

import "C"
