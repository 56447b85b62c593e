package queue_test

import "os"

// roleVariable makes the test binary do one of the roles below instead of testing.
const roleVariable = "QUEUE_TEST_ROLE"

func runChild(role string) {
	os.Exit(2)
}
