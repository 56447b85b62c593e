package control

import (
	"net/http"

	"github.com/signforms/signforms-go/signformstest"
)

// ID is the answer to a request that made one record.
type ID struct {
	ID string `json:"id"`
}

func (a *API) view(r *http.Request) (any, error) {
	var in Viewing
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	return a.act(r, in.Signer, in.From, signformstest.Actor.View)
}

func (a *API) sign(r *http.Request) (any, error) {
	var in Signature
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	return a.act(r, in.Signer, in.From, func(actor signformstest.Actor) error { return actor.Sign(in.Fields...) })
}

func (a *API) decline(r *http.Request) (any, error) {
	var in Refusal
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	return a.act(r, in.Signer, in.From, func(actor signformstest.Actor) error { return actor.Decline(in.Reason) })
}

func (a *API) act(r *http.Request, signer string, from signformstest.Origin, do func(signformstest.Actor) error) (any, error) {
	if signer == "" {
		return nil, inputError(`signer is missing: write the e-mail address or the signerId of who acts, as in {"signer":"ann@example.com"}`)
	}
	actor := a.server.Signer(r.PathValue("id"), signer)
	if from != (signformstest.Origin{}) {
		actor = actor.From(from)
	}
	return a.acted(r, do(actor))
}

// acted answers an act with the changed document.
func (a *API) acted(r *http.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return a.getDocument(r)
}

func (a *API) send(r *http.Request) (any, error) {
	return a.acted(r, a.server.SendDraft(r.PathValue("id")))
}
func (a *API) void(r *http.Request) (any, error) { return a.acted(r, a.server.Void(r.PathValue("id"))) }
func (a *API) pay(r *http.Request) (any, error)  { return a.acted(r, a.server.Pay(r.PathValue("id"))) }
func (a *API) expire(r *http.Request) (any, error) {
	return a.acted(r, a.server.Expire(r.PathValue("id")))
}
func (a *API) delete(r *http.Request) (any, error) {
	return a.acted(r, a.server.Delete(r.PathValue("id")))
}
func (a *API) archive(r *http.Request) (any, error) {
	return a.acted(r, a.server.Archive(r.PathValue("id")))
}
func (a *API) finish(r *http.Request) (any, error) {
	return a.acted(r, a.server.FinishAgain(r.PathValue("id")))
}

// Submitted is the answer to a form's submission.
type Submitted struct {
	FormResponseID string `json:"formResponseId"`
}

func (a *API) submitForm(r *http.Request) (any, error) {
	var in signformstest.Submission
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	id, err := a.server.SubmitForm(r.PathValue("id"), in)
	if err != nil {
		return nil, err
	}
	return created{Submitted{id}}, nil
}
