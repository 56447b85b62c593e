package control

import (
	"net/http"
	"slices"

	"github.com/signforms/signforms-go/signformstest"
)

func (a *API) addWebhook(_ *http.Request, in signformstest.Webhook) (any, error) {
	return madeID(a.server.TryAddWebhook(in))
}

// madeID answers with the id of a new record.
func madeID(id string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return created{ID{id}}, nil
}

// testWebhook does what the service's "Test Webhook" button does.
func (a *API) testWebhook(r *http.Request) (any, error) {
	return madeID(a.server.TryTestWebhook(r.PathValue("id")))
}

// Secret is the secret that signs the deliveries of a webhook.
type Secret struct {
	Secret string `json:"secret"`
}

// rotateSecret gives a webhook a new secret.
func (a *API) rotateSecret(r *http.Request) (any, error) {
	secret, err := a.server.RotateWebhookSecret(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return Secret{secret}, nil
}

// Resent tells how many deliveries are sent again.
type Resent struct {
	Resent int `json:"resent"`
}

func (a *API) resendFailed(r *http.Request) (any, error) {
	var in Since
	if err := decodeOptional(r, &in); err != nil {
		return nil, err
	}
	n, err := a.server.ResendFailed(r.PathValue("id"), in.Since)
	if err != nil {
		return nil, err
	}
	return Resent{n}, nil
}

func (a *API) addTemplate(r *http.Request, in Template) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeID(a.createTemplate(r.Context(), a.server, in))
}

func (a *API) addForm(_ *http.Request, in Form) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeID(a.server.TryAddForm(in.Form))
}

func (a *API) addDocument(r *http.Request, in Document) (any, error) {
	if err := checkKey(in.Key); err != nil {
		return nil, err
	}
	return madeID(a.createDocument(r.Context(), a.server, in))
}

// eventFamilies are the families of events that a webhook can select.
var eventFamilies = []signformstest.EventFamily{signformstest.TemplateResponse, signformstest.SignatureCompleted, signformstest.FormResponse}

// EventFamilies returns the possible values of a webhook's event, sorted.
func EventFamilies() (all []string) {
	for _, family := range slices.Sorted(slices.Values(eventFamilies)) {
		all = append(all, string(family))
	}
	return all
}
