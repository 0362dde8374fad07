package demo

import _ "embed"

//go:embed target/demo-amd64
var bundled []byte

func init() { program = bundled }
