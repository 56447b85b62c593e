// Package filestore keeps the reminder budget of API keys in a file (see [signforms.Options]). It survives a restart,
// and all processes of one machine that use the file share the limit. For several machines use package redisstore.
//
//	store := filestore.NewLimitStore("/var/lib/shop/reminders.json")
//	client, err := signforms.New(baseURL, apiKey, &signforms.Options{LimitStore: store})
//
// Slots stay held when a process is killed. On Linux the package uses the boot clock, so setting the wall clock has no
// effect. The boot clock does not tell how long a reboot took: after one, slots are held again for the time that
// remained before it. On other systems the package uses the wall clock, which must not be set forward while slots are
// held. When it is set back, no slot is freed early, and none is held for longer than its hold.
//
// All processes must run as one user of the machine. A Take by root leaves the file and its lock file, which only their
// owner can read, to root: the next process of another user gets an error that says so.
//
// The file must be on a disk of the machine, because locks of network file systems are not always kept. A file that
// cannot be read or written gives no slot: Remind fails with signforms.ErrUnavailable and Error.Attempts 0. The file holds
// hashes and random numbers, but no API key and no personal data.
package filestore
