// Package call is the verb call: has a live process call a function.
package call
