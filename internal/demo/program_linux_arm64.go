package demo

import _ "embed"

//go:embed target/demo-arm64
var program []byte

//go:embed target/dead-arm64
var deadProgram []byte

//go:embed target/dead-arm64.core.xz
var deadCore []byte
