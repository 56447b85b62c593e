package bench

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	paddle "github.com/PaddleHQ/paddle-go-sdk/v4"
	"github.com/PaddleHQ/paddle-go-sdk/v4/pkg/paddlenotification"
)

func paddleRows() []Row {
	passOn := Work{Clock: "–", Decode: DecodesNot, Copies: "grown while read", Repeat: "–"}
	decode := Work{Clock: "–", Decode: DecodesGeneric, Copies: "grown while read, twice", Repeat: "–"}
	return []Row{
		{Name: "paddle-go-sdk Middleware", Kind: KindMiddleware, Work: passOn, Sign: paddleSign, New: paddleMiddleware},
		{Name: "paddle-go-sdk Middleware + json.Unmarshal", Kind: KindHandler, Work: decode, Wrap: paddleNotification, Sign: paddleSign, New: paddleUnmarshal},
	}
}

func paddleSign(body []byte, at time.Time) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write([]byte(timestamp + ":"))
	mac.Write(body)
	return http.Header{"Paddle-Signature": {"ts=" + timestamp + ";h1=" + hex.EncodeToString(mac.Sum(nil))}}
}

func paddleMiddleware() Receiver {
	decoded := 0
	return serving(paddle.NewWebhookVerifier(Secret).Middleware(http.HandlerFunc(readAndAnswer)), &decoded)
}

func paddleNotification(payload []byte) []byte {
	return envelope(`{"event_id":"evt_1","event_type":"document.signed","occurred_at":"2026-11-20T10:00:00.000000Z","notification_id":"ntf_1","data":{"events":`, payload, `}}`)
}

// paddleUnmarshal decodes first the type and then the notification, as the library's example does.
func paddleUnmarshal() Receiver {
	decoded := 0
	return serving(paddle.NewWebhookVerifier(Secret).Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		var hook struct {
			EventID   string                           `json:"event_id"`
			EventType paddlenotification.EventTypeName `json:"event_type"`
		}
		if err := json.Unmarshal(body, &hook); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var event paddlenotification.GenericNotificationEvent
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if data, ok := event.Data.(map[string]any); ok {
			events, _ := data["events"].([]any)
			decoded += len(events)
		}
		writeOK(w)
	})), &decoded)
}
