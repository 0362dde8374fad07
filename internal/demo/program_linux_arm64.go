package demo

import _ "embed"

//go:embed target/demo-arm64
var bundled []byte

//go:embed target/dead-arm64
var bundledDead []byte

//go:embed target/dead-arm64.core.xz
var bundledCore []byte

func init() { program, deadProgram, deadCore = bundled, bundledDead, bundledCore }
