package queue_test

import "syscall"

// suspend stops the child's threads, as a machine that is paused does.
func (c *child) suspend() { c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *child) resume() { c.cmd.Process.Signal(syscall.SIGCONT) }
