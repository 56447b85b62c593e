package signforms

import "context"

// FormsService sends forms. It is Client.Forms. [FormResponsesService] has their responses.
type FormsService struct{ c *caller }

// FormSendParams are the inputs of sending a form.
type FormSendParams struct {
	FormID    string     // required; a UUID in events, but any text is accepted
	Receivers []Receiver // 1 to 100; RoleTitle is not used
	Mail      Mail
	Variables []Variable
}

// FormSendResult is the result of sending a form. The service documents only a message.
type FormSendResult struct {
	Message string `json:"message"`
	// RequestID is the x-request-id of the call, and StatusCode the HTTP status of its response, as in [Error].
	RequestID  string `json:"requestId"`
	StatusCode int    `json:"statusCode"`
	// Raw is the response as received. It may contain links to the form, so keep it out of logs.
	Raw RawResponse `json:"-"`
}

// Validate returns the error that Send returns for invalid inputs, or nil; see
// [TemplateSendParams.Validate].
func (p FormSendParams) Validate() error {
	return p.request().invalid()
}

func (p FormSendParams) request() request {
	return sendBody{SigningType: typeForm, DocumentID: p.FormID, Receivers: p.Receivers, Mail: p.Mail, Variables: p.Variables}.request()
}

// Send mails a form to its receivers. The request is repeated only when the service provably did
// not accept it.
//
// ErrOutcomeUnknown means that the form may have been sent. A 200 whose message contains "not",
// "failed" or the like returns it too. The service does not list the receivers of a form, so ask
// the receivers before you send again.
//
// A response:
//
//	{"message": "Form sent successfully"}
func (s *FormsService) Send(ctx context.Context, p FormSendParams) (*FormSendResult, error) {
	var res FormSendResult
	resp, err := s.c.perform(ctx, p.request(), func(r *response) error { return r.readFormSend(&res) })
	if err != nil {
		return nil, err
	}
	res.RequestID, res.StatusCode, res.Raw = resp.id, resp.outcome.Status, resp.outcome.Body
	return &res, nil
}
