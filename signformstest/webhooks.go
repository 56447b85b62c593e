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
// it fails again, its schedule goes on where it was; a dead one stays dead. It is an error when there is no such delivery,
// when it is under way, or when its webhook is disabled or deleted.
func (s *Server) Resend(deliveryID string) error { return s.ref.Resend(deliveryID) }

// ResendFailed makes due now, as Resend does, every delivery of the webhook whose CreatedAt is since or later and whose
// last attempt failed: those that wait for their next attempt, and dead ones. It returns how many they are. It is an
// error, and none is sent, when there is no such webhook or it is disabled.
func (s *Server) ResendFailed(webhookID string, since time.Time) (int, error) {
	return s.ref.ResendFailed(webhookID, since)
}

// DisableWebhook turns a webhook off: it gets no new deliveries, and its pending ones are cancelled before DisableWebhook
// returns. An attempt that is under way is broken off. It is an error when there is no such webhook.
func (s *Server) DisableWebhook(webhookID string) error {
	return s.ref.SetWebhookDisabled(webhookID, true)
}

// EnableWebhook turns a webhook on again. It gets what happens from now on, not what was cancelled; [Server.Resend] sends
// that. It is an error when there is no such webhook.
func (s *Server) EnableWebhook(webhookID string) error {
	return s.ref.SetWebhookDisabled(webhookID, false)
}

// DeleteWebhook removes a webhook for good: it gets no new deliveries, and its pending ones are cancelled before DeleteWebhook
// returns. An attempt that is under way is broken off. Its deliveries stay in the log, but cannot be sent again. It is an
// error when there is no such webhook.
func (s *Server) DeleteWebhook(webhookID string) error { return s.ref.DeleteWebhook(webhookID) }
