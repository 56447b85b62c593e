// Package api is the public HTTP API of the reference service: the six operations of the Signing and Forms Service.
//
// [New] makes the handler; routes.go has every path on one screen, errors.go every refusal, wire.go every answer. A
// request goes through these steps, and the first that refuses it answers:
//
//	route       404, 405
//	key         403: x-api-key, and workspaceid when it is sent
//	limit       429, reminders only; the arrival counts, even when the request is refused later
//	body        413, 415, 400
//	Intercept   faults, if there are any
//	work        400, 404, 409, 200
//
// The limit and the work answer 503 when the store cannot save.
//
// An input that a request has in its query and in its body must be the same in both; otherwise the request is refused.
// Unknown parameters are ignored, and noted in the request's [Record]. So is what was taken in a spelling that the
// interface description has beside the published one, and HEAD, which is answered as GET is.
package api
