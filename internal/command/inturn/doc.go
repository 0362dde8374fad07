// Package inturn has several workers at the same time, and their results in order: values by
// [InOrder], texts that are too long to keep by [Output] and [Turns].
package inturn
