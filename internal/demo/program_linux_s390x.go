package demo

import _ "embed"

//go:embed target/demo-s390x
var bundled []byte

//go:embed target/dead-s390x
var bundledDead []byte

//go:embed target/dead-s390x.core.xz
var bundledCore []byte

func init() { program, deadProgram, deadCore = bundled, bundledDead, bundledCore }
