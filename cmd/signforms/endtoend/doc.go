// Package endtoend has tests of the program as a process: called from other languages, killed, on a
// full disk, and behind a proxy.
package endtoend
