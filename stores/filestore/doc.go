// Package filestore keeps the reminder budget of API keys in a file (see [signforms.Options]). The
// budget survives a restart, and all processes of one machine that use the file share the limit.
// For several machines use package redisstore.
//
//	store := filestore.NewLimitStore("/var/lib/shop/reminders.json")
//	client, err := signforms.New(baseURL, apiKey, &signforms.Options{LimitStore: store})
//
// Slots stay held when a process is killed.
//
// On Linux the package uses the boot clock, so setting the wall clock has no effect. The boot clock
// does not show how long a reboot took, so after a reboot slots are held for the time that remained
// before the reboot.
//
// On other systems the package uses the wall clock, which must not be set forward while slots are
// held. If it is set back, no slot is freed early, and no slot is held for longer than its hold.
//
// All processes must run as the same user of the machine. Only the owner can read the file and its
// lock file. If root calls Take first, root owns both files, and a process of another user gets an
// error that names the owner.
//
// The file must be on a disk of the machine, because network file systems do not always keep locks.
// If the file cannot be read or written, Take gives no slot, and Remind fails with
// signforms.ErrUnavailable and Error.Attempts 0. The file contains hashes and random numbers, but
// no API key and no personal data.
package filestore
