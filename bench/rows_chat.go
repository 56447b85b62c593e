package bench

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	line "github.com/line/line-bot-sdk-go/v8/linebot/webhook"
	"github.com/slack-go/slack"
)

func chatRows() []Row {
	verify := Work{Clock: "both ways", Decode: DecodesNot, Copies: "–", Repeat: "–"}
	handle := Work{Clock: "–", Decode: DecodesShallow, Copies: "grown while read; raw fields", Repeat: "–"}
	return []Row{
		{Name: "slack-go SecretsVerifier", Kind: KindVerify, Work: verify, Sign: slackSign, New: func() Receiver { return slackVerify }},
		{Name: "line-bot-sdk-go WebhookHandler", Kind: KindHandler, Work: handle, Wrap: lineCallback, Sign: lineSign, New: lineHandler},
	}
}

func slackSign(body []byte, at time.Time) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return http.Header{
		"X-Slack-Request-Timestamp": {timestamp},
		"X-Slack-Signature":         {"v0=" + hex.EncodeToString(mac.Sum(nil))},
	}
}

func slackVerify(d *Delivery) (int, error) {
	verifier, err := slack.NewSecretsVerifier(d.Header, Secret)
	if err != nil {
		return 0, err
	}
	if _, err := verifier.Write(d.Body); err != nil {
		return 0, err
	}
	return 0, verifier.Ensure()
}

// lineCallback adds a type to every event, as in LINE's events. The library does not know this type, so it keeps the event's fields
// raw, as it does for types that are newer than the library.
func lineCallback(payload []byte) []byte {
	typed := bytes.ReplaceAll(payload, []byte(`{"webhookEvent":`), []byte(`{"type":"document","webhookEvent":`))
	return envelope(`{"destination":"U4af4980629c4b1d8a1f0e6f3a9b7c2d1","events":`, typed, `}`)
}

func lineSign(body []byte, _ time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write(body)
	return http.Header{"X-Line-Signature": {base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
}

func lineHandler() Receiver {
	decoded := 0
	h, err := line.NewWebhookHandler(Secret)
	if err != nil {
		panic(err)
	}
	h.HandleEvents(func(callback *line.CallbackRequest, _ *http.Request) {
		for _, event := range callback.Events {
			switch event := event.(type) {
			case line.UnknownEvent:
				decoded += min(1, len(event.Raw))
			}
		}
	})
	return serving(h, &decoded)
}
