package demo

import _ "embed"

//go:embed target/demo-s390x
var program []byte

//go:embed target/dead-s390x
var deadProgram []byte

//go:embed target/dead-s390x.core.xz
var deadCore []byte
