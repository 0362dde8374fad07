package demo

import _ "embed"

//go:embed target/demo-amd64
var program []byte

// An emulated amd64 host has no bundled core.
var deadProgram, deadCore []byte
