//go:build race

package budget_test

// simSeeds is smaller than without the race detector, which makes a virtual day ten times as long.
const simSeeds = 25
