// Package signforms is a typed client for the Signing and Forms Service: documents sent to people for electronic
// signature, and forms that people fill in.
//
// Start with [New], whose [Client] has everything in Documents, Templates and Forms; [Error] tells what happened when a
// call fails; [Page] and the All methods walk lists. Webhooks are in package webhook, and package signformstest is the
// whole service in a test.
package signforms
