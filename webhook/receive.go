package webhook

import (
	"context"
	"net/http"
)

// Receive receives one delivery without net/http, and returns the status and the JSON object to answer with. body is what
// the sender sent; decode base64 first. Build the header with [http.Header.Add]; only X-Signature and X-Timestamp are used.
//
// The functions of [Funcs] get the values and the deadline of ctx, but do not stop when ctx is cancelled. With a status of
// 503, add a Retry-After header. The caller may use body again when Receive returns.
func (h *Handler) Receive(ctx context.Context, header http.Header, body []byte) (status int, answer []byte) {
	a := h.receive(ctx, header, body)
	return a.status, []byte(a.body)
}

func (h *Handler) receive(ctx context.Context, header http.Header, body []byte) answer {
	verified, err := h.verifier.Verify(header, body)
	var events []Event
	if err == nil {
		events, err = Parse(verified.Payload)
	}
	if err != nil {
		refused := refuse(err)
		h.refusals.tell(ctx, refused, header, body)
		return refused.answer
	}
	verified.Payload = nil
	return h.runApart(newDeliveryContext(ctx, verified), events)
}

// runApart runs the functions on a goroutine of their own and waits for it. A function may end its goroutine, and if that
// were the caller's there would be no answer.
func (h *Handler) runApart(ctx *deliveryContext, events []Event) answer {
	d := h.newDelivery(ctx, events)
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		d.run()
	}()
	if p := <-ended; p != nil {
		panic(p) // of a hook
	}
	return d.answer()
}
