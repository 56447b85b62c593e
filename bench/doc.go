// Package bench compares signforms with other libraries and with code written by hand, in one run.
//
// Start with the programs. go run ./run prints the tables of webhook receivers and client calls. go run ./load measures receivers
// under load over loopback. go run ./queue measures durable receiving. go run ./coldbuild measures a build without a cache of
// dependencies. The rows are also benchmarks (go test -bench . -benchmem), and tests check that each row accepts genuine deliveries
// and refuses others.
//
// Most figures are ratios of two measurements of one run, because absolute times say more about the machine than about the code.
package bench
