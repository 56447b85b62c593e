// Package sqlitestore keeps the state of a [refserver.Server] in one SQLite file. Start with [Open].
//
// The file has one table per kind of record, with the columns id, data and sum, a checksum, and a table blob for PDFs and images. It is in WAL
// mode. A second program is kept out by locks on the file and on one beside it, which are none of SQLite's: the sqlite3 shell and
// Litestream can read the file while the program runs. Package signformstest defines the content of the records; this package migrates only its tables.
//
// Every Save is one transaction. With [Normal] it survives the death of the process, with [Full] also a loss of power.
package sqlitestore
