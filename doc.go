// Package signforms is a typed client for the Signing and Forms Service.
package signforms
