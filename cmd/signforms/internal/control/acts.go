package control

import (
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (a *API) view(r *http.Request, in wire.Viewing) (any, error) {
	return a.act(r, in.Signer, in.From, refserver.Actor.View)
}

func (a *API) sign(r *http.Request, in wire.Signature) (any, error) {
	return a.act(r, in.Signer, in.From, func(actor refserver.Actor) error { return actor.Sign(in.Fields...) })
}

func (a *API) decline(r *http.Request, in wire.Refusal) (any, error) {
	return a.act(r, in.Signer, in.From, func(actor refserver.Actor) error { return actor.Decline(in.Reason) })
}

func (a *API) act(r *http.Request, signer string, from refserver.Origin, do func(refserver.Actor) error) (any, error) {
	if signer == "" {
		return nil, inputError(`signer is missing: write the e-mail address or the signerId of who acts, as in {"signer":"ann@example.com"}`)
	}
	actor := a.server.Signer(r.PathValue("id"), signer)
	if from != (refserver.Origin{}) {
		actor = actor.From(from)
	}
	return a.acted(r, do(actor))
}

// acted returns the changed document as the response to an act.
func (a *API) acted(r *http.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return a.getDocument(r)
}

func (a *API) submitForm(r *http.Request, in refserver.Submission) (any, error) {
	id, err := a.server.SubmitForm(r.PathValue("id"), in)
	if err != nil {
		return nil, err
	}
	return created{wire.Submitted{FormResponseID: id}}, nil
}
