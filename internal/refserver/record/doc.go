// Package record converts the records of package store to bytes and back. The bytes are JSON, in an
// envelope with a version. A record of another version is refused.
//
// A record contains the exported fields of its struct. testdata/records.json has one record of each
// kind in its stored form. If a change of these structs fails the test, raise the version.
package record
