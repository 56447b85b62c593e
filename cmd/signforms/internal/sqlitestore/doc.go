// Package sqlitestore keeps the state of a sandbox in a file of SQLite, which one program uses at a time. A file is open, or it has
// failed: then what is in it is known only after the next start.
//
// Start with [Open]. [Backup] copies a file, also one in use, and [Check] examines one.
package sqlitestore
