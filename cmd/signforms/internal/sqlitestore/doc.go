// Package sqlitestore keeps the state of a [signformstest.Server] in one SQLite file. Start with [Open].
//
// The file has one table per kind of record, with the columns id and data, and a table blob for PDFs and images. It is in
// WAL mode, and the lock against a second program is a file of its own beside it, so that the sqlite3 shell and Litestream
// can read the file while the program runs. Package signformstest decides what is in the records; this package
// migrates only its tables.
//
// Every Save is one transaction. With [Normal] it survives a process that is killed, with [Full] the loss of power too.
package sqlitestore
