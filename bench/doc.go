// Package bench compares signforms with stripe-go, go-github and code written by hand. It has only
// benchmarks, named row/library/size, and tests that check the results of every row. README.md
// describes how to run them.
package bench
