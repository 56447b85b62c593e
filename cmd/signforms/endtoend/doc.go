// Package endtoend holds tests of the program as a process: from other languages, killed, without room on the disk,
// behind a proxy.
package endtoend
