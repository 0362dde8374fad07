// Package address has addresses as the command's JSON documents write them.
package address
