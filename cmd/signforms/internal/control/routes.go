package control

import "net/http"

// routes holds the operations that answer with JSON. The other operations are in streams.
var routes = []struct {
	pattern string
	handle  func(*API, *http.Request) (any, error)
}{
	{"GET /status", (*API).getStatus},
	{"GET /credentials", (*API).getCredentials},
	{"POST /api-keys", bare((*API).addAPIKey)},
	{"POST /workspaces", bare((*API).addWorkspace)},
	{"POST /seed", (*API).seed},
	{"POST /reset", bare((*API).reset)},

	{"GET /clock", (*API).getClock},
	{"POST /clock/advance", (*API).advance},
	{"POST /clock/settle", (*API).settle},

	{"GET /templates", (*API).listTemplates},
	{"POST /templates", (*API).addTemplate},
	{"GET /templates/{id}", (*API).getTemplate},
	{"GET /forms", (*API).listForms},
	{"POST /forms", (*API).addForm},
	{"GET /forms/{id}", (*API).getForm},
	{"POST /forms/{id}/submit", (*API).submitForm},
	{"GET /forms/{id}/responses", (*API).listResponses},
	{"GET /responses/{id}", (*API).getResponse},

	{"GET /documents", (*API).listDocuments},
	{"POST /documents", (*API).addDocument},
	{"GET /documents/{id}", (*API).getDocument},
	{"POST /documents/{id}/view", (*API).view},
	{"POST /documents/{id}/sign", (*API).sign},
	{"POST /documents/{id}/decline", (*API).decline},
	{"POST /documents/{id}/send", bare((*API).send)},
	{"POST /documents/{id}/void", bare((*API).void)},
	{"POST /documents/{id}/pay", bare((*API).pay)},
	{"POST /documents/{id}/expire", bare((*API).expire)},
	{"POST /documents/{id}/delete", bare((*API).delete)},
	{"POST /documents/{id}/archive", bare((*API).archive)},
	{"POST /documents/{id}/finish", bare((*API).finish)},

	{"GET /links/sign/{token}", (*API).signingLink},
	{"GET /links/form/{token}", (*API).formLink},

	{"GET /webhooks", (*API).listWebhooks},
	{"POST /webhooks", (*API).addWebhook},
	{"GET /webhooks/{id}", (*API).getWebhook},
	{"DELETE /webhooks/{id}", bare((*API).deleteWebhook)},
	{"POST /webhooks/{id}/enable", bare((*API).enableWebhook)},
	{"POST /webhooks/{id}/disable", bare((*API).disableWebhook)},
	{"POST /webhooks/{id}/test", bare((*API).testWebhook)},
	{"POST /webhooks/{id}/rotate", bare((*API).rotateSecret)},
	{"POST /webhooks/{id}/resend", (*API).resendFailed},

	{"POST /relays/{id}", (*API).openRelay},
	{"DELETE /relays/{id}", bare((*API).closeRelay)},
	{"POST /relays/{id}/attempts/{attempt}", (*API).reportAttempt},

	{"GET /deliveries", (*API).listDeliveries},
	{"GET /deliveries/{id}", (*API).getDelivery},
	{"POST /deliveries/{id}/resend", bare((*API).resend)},
	{"GET /requests", (*API).listRequests},
	{"GET /messages", (*API).listMessages},
	{"GET /audit", (*API).listAudit},

	{"GET /faults", (*API).listFaults},
	{"DELETE /faults", bare((*API).clearFaults)},
	{"DELETE /faults/{id}", bare((*API).removeFault)},
	{"POST /faults/requests", (*API).addRequestFault},
	{"POST /faults/deliveries", (*API).addDeliveryFault},
}
