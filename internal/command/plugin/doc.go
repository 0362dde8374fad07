// Package plugin is the verb plugin: lists plug-ins, checks them, and shows what one is asked and
// answers.
package plugin
