// Package api is the public HTTP API of the reference service: the six operations of the Signing and Forms Service.
//
// [New] makes the handler; routes.go has every path on one screen, errors.go every refusal, wire.go every answer. A request
// goes through these steps, and the first that refuses it answers:
//
//	route       404, 405
//	key         403: x-api-key, and workspaceid when it is sent
//	limit       429, reminders only; the arrival counts from here on, whatever becomes of the request
//	body        413, 415, 400
//	Intercept   faults, if there are any
//	work        400, 404, 409, 200
//
// Inputs that a request carries in its query and in its body must agree; when they differ it is refused, since nobody can
// tell which one was meant. Unknown parameters are ignored, and noted in the request's [Record].
package api
