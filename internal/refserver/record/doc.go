// Package record turns the records of package store into bytes and back: JSON with a version around it. A record of an older
// version is migrated step by step when it is read, and written in the newest version when it changes next. One of a newer
// version is refused.
//
// A record holds the exported fields of its struct. testdata/ holds a record of each kind as each version wrote it:
// after a change of those structs that the test refuses, raise the version of the kind and add a step.
package record
