package pdfprocess

import (
	"errors"
)

// Variable is set in the environment of the processes.
const Variable = variable

// Overhead is more than 1 with the race detector.
const Overhead = overhead

// Stacks is more than 0 with cgo.
const Stacks = stacks

// Death returns why an inspecting process ended that has printed a text.
func Death(stderr string) error { return New().inspecting.death(errors.New("exit status 2"), stderr) }

// Forget makes Main not called, until remember is called.
func Forget() (remember func()) {
	handled = false
	return func() { handled = true }
}

// Fill takes all room of the pool, until release is called.
func (p *Pool) Fill() (release func()) {
	fill := func(room chan struct{}, take bool) {
		for range cap(room) {
			if take {
				room <- struct{}{}
			} else {
				<-room
			}
		}
	}
	fill(p.inspecting.room, true)
	fill(p.finishing.room, true)
	return func() {
		fill(p.inspecting.room, false)
		fill(p.finishing.room, false)
	}
}
