// Package bench compares signforms with other libraries and with code written by hand, side by side in one run.
//
// Start with the programs: go run ./run prints the table of webhook receivers and client calls, go run ./load measures
// receivers under load over loopback, go run ./coldbuild measures a build from an empty cache. The same rows are there
// as benchmarks (go test -bench . -benchmem) and as tests that each row accepts what is genuine and refuses what is not.
//
// Figures are ratios of two measurements of one run. Absolute times say more about the machine than about the code.
package bench
