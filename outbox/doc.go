// Package outbox sends templates once.
package outbox
