// Package bench compares signforms with stripe-go and with code written by hand, in one run.
//
// go run ./run prints every table: webhook receivers, client calls and durable receiving. The rows are also benchmarks
// (go test -bench . -benchmem), and tests check that each row accepts genuine deliveries and refuses others.
//
// Figures are ratios of two measurements of one run, because absolute times say more about the machine than about the code.
package bench
