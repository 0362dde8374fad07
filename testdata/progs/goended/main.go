// Command goended dies of a panic. With GOTRACEBACK=crash, it leaves a core.
package main

func main() { panic("the end") }
