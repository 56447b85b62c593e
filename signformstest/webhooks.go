package signformstest

import "time"

// TestWebhook does what the "Test Webhook" button does: it sends one array with a sample event per tracked document to
// this webhook alone, signed and logged as any other. Pressed twice it sends the same bytes. It returns the delivery's
// id. A webhook that does not exist fails the test.
func (s *Server) TestWebhook(webhookID string) (deliveryID string) {
	s.t.Helper()
	id, err := s.ref.TestWebhook(webhookID)
	s.require(err == nil, "TestWebhook: %v", err)
	return id
}

// Resend makes a delivery due now, whatever became of it: with the same body, a new timestamp and a new signature. If
// it fails again, its schedule goes on where it was. It is an error when the delivery is under way or its webhook is
// disabled or deleted.
func (s *Server) Resend(deliveryID string) error { return s.ref.Resend(deliveryID) }

// ResendFailed makes every delivery of the webhook due now that was made at or after since and has failed so far, for
// good or not. It returns how many those are.
func (s *Server) ResendFailed(webhookID string, since time.Time) (int, error) {
	return s.ref.ResendFailed(webhookID, since)
}

// DisableWebhook turns a webhook off: it gets no new deliveries, and pending ones are cancelled at once, the one that is
// under way too.
func (s *Server) DisableWebhook(webhookID string) error {
	return s.ref.SetWebhookDisabled(webhookID, true)
}

// EnableWebhook turns a webhook on again. It gets what happens from now on.
func (s *Server) EnableWebhook(webhookID string) error {
	return s.ref.SetWebhookDisabled(webhookID, false)
}

// DeleteWebhook removes a webhook as DisableWebhook turns it off. Its deliveries stay in the log.
func (s *Server) DeleteWebhook(webhookID string) error { return s.ref.DeleteWebhook(webhookID) }
