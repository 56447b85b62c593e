package control

import (
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver"
)

// routes has the operations whose responses are JSON. The other operations are in streams.
var routes = []struct {
	pattern string
	handle  handler
}{
	{"GET /status", (*API).getStatus},
	{"GET /credentials", (*API).getCredentials},
	{"POST /api-keys", bare((*API).addAPIKey)},
	{"GET /workspaces", (*API).listWorkspaces},
	{"POST /workspaces", (*API).createWorkspace},
	{"DELETE /workspaces/{id}", bare((*API).removeWorkspace)},
	{"POST /seed", taking((*API).seed)},
	{"POST /reset", bare((*API).reset)},

	{"GET /clock", (*API).getClock},
	{"POST /clock/advance", taking((*API).advance)},
	{"POST /clock/settle", (*API).settle},

	{"GET /templates", (*API).listTemplates},
	{"POST /templates", taking((*API).addTemplate)},
	{"GET /templates/{id}", (*API).getTemplate},
	{"GET /forms", (*API).listForms},
	{"POST /forms", taking((*API).addForm)},
	{"GET /forms/{id}", (*API).getForm},
	{"POST /forms/{id}/submit", taking((*API).submitForm)},
	{"GET /forms/{id}/responses", (*API).listResponses},
	{"GET /responses/{id}", (*API).getResponse},

	{"GET /documents", waiting((*API).listDocuments)},
	{"POST /documents", taking((*API).addDocument)},
	{"GET /documents/{id}", (*API).getDocument},
	{"POST /documents/{id}/view", taking((*API).view)},
	{"POST /documents/{id}/sign", taking((*API).sign)},
	{"POST /documents/{id}/decline", taking((*API).decline)},
	{"POST /documents/{id}/send", onDocument((*refserver.Server).SendDraft)},
	{"POST /documents/{id}/void", onDocument((*refserver.Server).Void)},
	{"POST /documents/{id}/pay", onDocument((*refserver.Server).Pay)},
	{"POST /documents/{id}/expire", onDocument((*refserver.Server).Expire)},
	{"POST /documents/{id}/delete", onDocument((*refserver.Server).Delete)},
	{"POST /documents/{id}/archive", onDocument((*refserver.Server).Archive)},

	{"GET /links/sign/{token}", (*API).signingLink},
	{"GET /links/form/{token}", (*API).formLink},

	{"GET /webhooks", (*API).listWebhooks},
	{"POST /webhooks", taking((*API).addWebhook)},
	{"GET /webhooks/{id}", (*API).getWebhook},
	{"DELETE /webhooks/{id}", onRecord((*refserver.Server).DeleteWebhook)},
	{"POST /webhooks/{id}/enable", onRecord((*refserver.Server).EnableWebhook)},
	{"POST /webhooks/{id}/disable", onRecord((*refserver.Server).DisableWebhook)},
	{"POST /webhooks/{id}/test", bare((*API).testWebhook)},
	{"POST /webhooks/{id}/rotate", bare((*API).rotateSecret)},
	{"POST /webhooks/{id}/resend", (*API).resendFailed},

	{"POST /relays/{id}", (*API).openRelay},
	{"DELETE /relays/{id}", bare((*API).closeRelay)},
	{"POST /relays/{id}/attempts/{attempt}", taking((*API).reportAttempt)},

	{"GET /deliveries", waiting((*API).listDeliveries)},
	{"GET /deliveries/{id}", (*API).getDelivery},
	{"POST /deliveries/{id}/resend", onRecord((*refserver.Server).Resend)},
	{"GET /requests", waiting((*API).listRequests)},
	{"GET /messages", waiting((*API).listMessages)},
	{"GET /audit", (*API).listAudit},

	{"GET /faults", (*API).listFaults},
	{"DELETE /faults", bare((*API).clearFaults)},
	{"DELETE /faults/{id}", onRecord((*refserver.Server).RemoveFault)},
	{"POST /faults/requests", taking((*API).addRequestFault)},
	{"POST /faults/deliveries", taking((*API).addDeliveryFault)},
}

// onRecord wraps an operation on the record that the path names. It has no other input, and no result.
func onRecord(do func(*refserver.Server, string) error) handler {
	return bare(func(a *API, r *http.Request) (any, error) { return nil, do(a.server, r.PathValue("id")) })
}

// onDocument wraps an operation on the document that the path names. It has no other input, and its result is the
// changed document.
func onDocument(do func(*refserver.Server, string) error) handler {
	return bare(func(a *API, r *http.Request) (any, error) { return a.acted(r, do(a.server, r.PathValue("id"))) })
}
