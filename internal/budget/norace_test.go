//go:build !race

package budget_test

// simSeeds is how many virtual days the reminder budget is tried for.
const simSeeds = 200
