// Package api is the public HTTP API of the reference service: the six operations of the Signing
// and Forms Service.
//
// [New] makes the handler; routes.go has every path, errors.go every refusal, and wire.go every
// response. A request passes through these steps. The first step that refuses the request
// determines the response:
//
//	route       404, 405
//	key         403: x-api-key, and workspaceid when it is sent
//	limit       429, reminders only; the arrival counts, even when the request is refused later
//	body        413, 415, 400
//	Intercept   faults, if there are any
//	work        400, 404, 409, 200
//
// If the store cannot save, the limit and the work respond with 503.
//
// An input that a request has in its query and in its body must be the same in both; otherwise the
// request is refused. Unknown parameters are ignored. The request's [Record] notes them, and also
// each input whose spelling is that of the interface description and not the published one. HEAD is
// handled like GET, and noted too.
package api
