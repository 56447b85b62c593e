// Package bench compares signforms with stripe-go, go-github and code written by hand. It has benchmarks only, named
// row/library/size, and tests that every row does its work. README.md says how to run them.
package bench
