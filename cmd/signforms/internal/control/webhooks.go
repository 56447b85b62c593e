package control

import (
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (a *API) addWebhook(_ *http.Request, in refserver.Webhook) (any, error) {
	return madeID(a.server.AddWebhook(in))
}

// madeID returns the id of a new record as the response.
func madeID(id string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return created{wire.ID{ID: id}}, nil
}

func madeUpload(made wire.ID, err error) (any, error) { return created{made}, err }

// testWebhook does the same as the "Test Webhook" button of the service.
func (a *API) testWebhook(r *http.Request) (any, error) {
	return madeID(a.server.TestWebhook(r.PathValue("id")))
}

// rotateSecret gives a webhook a new secret.
func (a *API) rotateSecret(r *http.Request) (any, error) {
	secret, err := a.server.RotateWebhookSecret(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return wire.Secret{Secret: secret}, nil
}

func (a *API) resendFailed(r *http.Request) (any, error) {
	var in wire.Since
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	n, err := a.server.ResendFailed(r.PathValue("id"), in.Since)
	if err != nil {
		return nil, err
	}
	return wire.Resent{Resent: n}, nil
}

func (a *API) addTemplate(r *http.Request, in wire.Template) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeUpload(a.createTemplate(r.Context(), a.server, in))
}

func (a *API) addForm(_ *http.Request, in wire.Form) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeID(a.server.AddForm(in.Form))
}

func (a *API) addDocument(r *http.Request, in wire.Document) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeUpload(a.createDocument(r.Context(), a.server, in))
}
