// Every operation of both descriptions through oapi-codegen.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"

	"clients/generated/control"
	"clients/generated/openapi"
)

const relay = "abcdefghijklmnopqrst"

var (
	ctx  = context.Background()
	base = os.Getenv("SIGNFORMS_BASE_URL")
	pdf  = decoded("PDF")
	png  = decoded("PNG")
	ann  = control.Signer{Name: new("Ann"), Email: "ann@example.com"}
)

func main() {
	c := must(control.NewClientWithResponses(base + "/_/api/v1"))
	s := must(openapi.NewClientWithResponses(base, openapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("x-api-key", os.Getenv("SIGNFORMS_API_KEY"))
		r.Header.Set("workspaceid", os.Getenv("SIGNFORMS_WORKSPACE_ID"))
		return nil
	})))
	answer(c.GetStatusWithResponse(ctx))
	answer(c.GetCredentialsWithResponse(ctx))
	answer(c.AddAPIKeyWithResponse(ctx))
	suite := answer(c.AddWorkspaceWithResponse(ctx, control.NewWorkspace{Name: new("suite")})).JSON201
	answer(c.ListWorkspacesWithResponse(ctx, nil))
	answer(c.RemoveWorkspaceWithResponse(ctx, suite.Id.String()))
	template := templates(c)
	documents(c)
	forms(c, s)
	webhooks(c)
	streams(c)
	faults(c)
	api(s, template)
	answer(c.ListRequestsWithResponse(ctx, &control.ListRequestsParams{Misses: new(true)}))
	answer(c.GetClockWithResponse(ctx))
	answer(c.AdvanceWithResponse(ctx, control.AdvanceJSONRequestBody{By: "3d"}))
	answer(c.ResetWithResponse(ctx))
	answer(c.SeedWithResponse(ctx, control.Seed{Documents: &[]control.Document{{Key: new("lease"), Name: "Lease", Signers: &[]control.Signer{ann}}}}))
}

// field returns the fields of a document or template: one signature.
func field(role string) *[]control.PDFField {
	return &[]control.PDFField{{
		Name: "Signature", Role: role, Kind: control.PDFFieldKindSignature, Required: new(true), Page: 1, X: 0.1, Y: 0.1, Width: 0.2, Height: 0.1,
	}}
}

func templates(c *control.ClientWithResponses) string {
	id := answer(c.AddTemplateWithResponse(ctx, control.Template{
		Name: "Offer", Roles: []control.Role{{Title: "Buyer", Colour: new("#1F6FEB")}}, Variables: &[]string{"[fee]"},
		ExpiresFor: new("7d"), Pdf: &pdf, Fields: field("Buyer"),
	})).JSON201.Id
	page := answer(c.ListTemplatesWithResponse(ctx, &control.ListTemplatesParams{Name: new("Off"), Limit: new(1)})).JSON200
	check(page.Total == 1 && page.Items[0].Roles[0].Title == "Buyer", "the template is not listed")
	answer(c.GetTemplateWithResponse(ctx, id))
	answer(c.GetTemplatePDFWithResponse(ctx, id))
	return id
}

func documents(c *control.ClientWithResponses) {
	id := answer(c.AddDocumentWithResponse(ctx, control.Document{
		Name: "Lease", Signers: &[]control.Signer{ann}, Pdf: &pdf, Fields: field(ann.Email),
	})).JSON201.Id
	answer(c.ViewDocumentWithResponse(ctx, id, control.ViewDocumentJSONRequestBody{Signer: ann.Email, From: &control.Origin{Ip: new("203.0.113.9")}}))
	link := *answer(c.GetDocumentWithResponse(ctx, id)).JSON200.Signers[0].Link
	answer(c.GetSigningLinkWithResponse(ctx, token(link)))
	answer(c.SignDocumentWithResponse(ctx, id, control.SignDocumentJSONRequestBody{
		Signer: ann.Email, Fields: &[]control.FieldValue{{Name: new("Signature"), Image: &png}},
	}))
	answer(c.SettleWithResponse(ctx, control.SettleJSONRequestBody{Timeout: new("30s")}))
	answer(c.GetDocumentPDFWithResponse(ctx, id))
	answer(c.GetFinishedPDFWithResponse(ctx, id))
	answer(c.PayDocumentWithResponse(ctx, id))
	paid := answer(c.ListDocumentsWithResponse(ctx, &control.ListDocumentsParams{Status: new(control.PAID), Type: new(control.ListDocumentsParamsTypePDF)}))
	check(paid.JSON200.Items[0].Name == "Lease", "the paid document is not listed")
	answer(c.ArchiveDocumentWithResponse(ctx, id))
	answer(c.ListAuditWithResponse(ctx, &control.ListAuditParams{DocumentId: id}))

	draft := func() string {
		return answer(c.AddDocumentWithResponse(ctx, control.Document{Name: "Draft", Signers: &[]control.Signer{ann}, Draft: new(true)})).JSON201.Id
	}
	sent := func() string {
		id := draft()
		answer(c.SendDocumentWithResponse(ctx, id))
		return id
	}
	answer(c.DeclineDocumentWithResponse(ctx, sent(), control.DeclineDocumentJSONRequestBody{Signer: ann.Email, Reason: new("too much")}))
	answer(c.ExpireDocumentWithResponse(ctx, sent()))
	answer(c.VoidDocumentWithResponse(ctx, sent()))
	answer(c.DeleteDocumentWithResponse(ctx, draft()))
}

func forms(c *control.ClientWithResponses, s *openapi.ClientWithResponses) {
	id := answer(c.AddFormWithResponse(ctx, control.Form{Title: "Intake", Fields: []control.Question{{Question: "Name", Required: new(true)}}})).JSON201.Id
	answer(c.ListFormsWithResponse(ctx, nil))
	answer(c.GetFormWithResponse(ctx, id))
	var send openapi.Send
	check(send.FromFormSend(openapi.FormSend{
		SigningType: openapi.FORMTEMPLATE, DocumentId: id, ReceiversList: []openapi.FormReceiver{{Name: "Ann", Email: ann.Email}},
	}) == nil, "the form cannot be sent")
	answer(s.SendWithResponse(ctx, nil, send))
	mail := answer(c.ListMessagesWithResponse(ctx, &control.ListMessagesParams{DocumentId: &id, Kind: new(control.ListMessagesParamsKindInvitation)}))
	answer(c.GetFormLinkWithResponse(ctx, token(*mail.JSON200.Items[0].Link)))
	response := answer(c.SubmitFormWithResponse(ctx, id, control.SubmitFormJSONRequestBody{Answers: map[string]string{"Name": "Cy"}})).JSON201.FormResponseId
	answer(c.ListResponsesWithResponse(ctx, id, nil))
	check(answer(c.GetResponseWithResponse(ctx, response)).JSON200.Answers[0].Answer == "Cy", "the answer differs")
	answer(s.ListResponsesWithResponse(ctx, &openapi.ListResponsesParams{FormId: &id}))
}

func webhooks(c *control.ClientWithResponses) {
	id := answer(c.AddWebhookWithResponse(ctx, control.Webhook{Url: "http://127.0.0.1:9/", Event: control.NewSignatureCompleted})).JSON201.Id
	answer(c.ListWebhooksWithResponse(ctx, nil))
	answer(c.GetWebhookWithResponse(ctx, id))
	delivery := answer(c.TestWebhookWithResponse(ctx, id)).JSON201.Id
	answer(c.SettleWithResponse(ctx, control.SettleJSONRequestBody{}))
	pending := answer(c.ListDeliveriesWithResponse(ctx, &control.ListDeliveriesParams{WebhookId: &id, Status: new(control.ListDeliveriesParamsStatusPending)}))
	check(len(pending.JSON200.Items[0].Attempts) == 1, "there is no attempt")
	answer(c.GetDeliveryWithResponse(ctx, delivery))
	answer(c.ResendWithResponse(ctx, delivery))
	answer(c.ResendFailedWithResponse(ctx, id, control.ResendFailedJSONRequestBody{}))
	answer(c.RotateSecretWithResponse(ctx, id))
	answer(c.DisableWebhookWithResponse(ctx, id))
	answer(c.EnableWebhookWithResponse(ctx, id))
	answer(c.DeleteWebhookWithResponse(ctx, id))
}

func streams(c *control.ClientWithResponses) {
	opened := answer(c.OpenRelayWithResponse(ctx, relay, control.OpenRelayJSONRequestBody{Events: &[]string{"new_form_response"}}))
	check(len(opened.JSON200.Webhooks) == 1, "the relay has no webhook")
	must(c.StreamEvents(ctx, nil)).Body.Close()
	must(c.StreamAttempts(ctx, relay)).Body.Close()
	report := must(c.ReportAttemptWithResponse(ctx, relay, 99, control.ReportAttemptJSONRequestBody{Status: 200}))
	check(report.StatusCode() == http.StatusNotFound, "an attempt that was not made is reported")
	answer(c.CloseRelayWithResponse(ctx, relay))
}

func faults(c *control.ClientWithResponses) {
	id := answer(c.AddRequestFaultWithResponse(ctx, control.RequestFault{Operation: new("void document"), Status: new(503), Latency: new("10ms")})).JSON201.Id
	answer(c.AddDeliveryFaultWithResponse(ctx, control.DeliveryFault{Duplicate: new(true), Times: new(2), Shift: new("-10m")}))
	check(len(answer(c.ListFaultsWithResponse(ctx, nil)).JSON200.Items) == 2, "the faults are not listed")
	answer(c.RemoveFaultWithResponse(ctx, id))
	answer(c.ClearFaultsWithResponse(ctx))
}

func api(s *openapi.ClientWithResponses, template string) {
	var send openapi.Send
	check(send.FromTemplateSend(openapi.TemplateSend{
		SigningType: openapi.TemplateSendSigningTypePDFTEMPLATE, DocumentId: template,
		ReceiversList: []openapi.TemplateReceiver{{Name: "Ann", Email: ann.Email, RoleTitle: "Buyer"}},
	}) == nil, "the template cannot be sent")
	sent := answer(s.SendWithResponse(ctx, nil, send)).JSON200
	check(len(*sent.Signers) == 1, "the document has no signer")
	kind := openapi.DocumentTypePDFTEMPLATE
	body := openapi.DocumentRef{DocumentId: template, DocumentType: &kind, ResponseId: sent.CreatedDocumentId}
	answer(s.SendReminderWithResponse(ctx, &openapi.SendReminderParams{DocumentId: template, DocumentType: &kind, ResponseId: sent.CreatedDocumentId}, body))
	answer(s.VoidDocumentWithResponse(ctx, &openapi.VoidDocumentParams{DocumentId: template, DocumentType: &kind, ResponseId: sent.CreatedDocumentId}, body))
	page := answer(s.ListDocumentsWithResponse(ctx, &openapi.ListDocumentsParams{DocumentType: &kind, Limit: new(5)})).JSON200
	check(page.Documents[0].DocumentId == template, "the template is not listed")
	answer(s.ListRespondentsWithResponse(ctx, &openapi.ListRespondentsParams{TemplateId: &template}))
}

// answer ends the program unless an operation succeeded.
func answer[T interface {
	StatusCode() int
	Status() string
}](response T, err error) T {
	must(response, err)
	check(response.StatusCode() < 300, fmt.Sprintf("%T: %s", response, response.Status()))
	return response
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(holds bool, otherwise string) {
	if !holds {
		panic(otherwise)
	}
}

// token returns the last part of a link.
func token(link string) string { return link[strings.LastIndex(link, "/")+1:] }

func decoded(name string) []byte { return must(base64.StdEncoding.DecodeString(os.Getenv(name))) }
