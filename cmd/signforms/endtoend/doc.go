// Package endtoend has tests of the program as a process: called from other languages, killed, on a
// full disk, behind a proxy, and with its pages in Firefox and WebKit.
package endtoend
