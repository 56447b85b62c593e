// Package record turns the records of package store into bytes and back: JSON with a version around it. A record of
// another version is refused.
//
// A record holds the exported fields of its struct. testdata/records.json holds one of each kind as it is written:
// after a change of those structs that the test refuses, raise the version.
package record
