//go:build nocgo

package main

func cgo() { panic("there is no C") }
