// A program whose .debug_frame the tests read.
package main

import "fmt"

func main() { fmt.Println("hello") }
