package bench

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/webhooks"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	svix "github.com/svix/svix-webhooks/go"
)

// Libraries for the Standard Webhooks scheme. All sign id, timestamp and body, and copy them into a new text first.

var standardSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(Secret))

func standardRows() []Row {
	verify := Work{Clock: "both ways", Decode: DecodesNot, Copies: "two, to sign", Repeat: "–"}
	decode := Work{Clock: "both ways", Decode: DecodesEnvelope, Copies: "three, to sign; raw data", Repeat: "–"}
	return []Row{
		{Name: "svix Verify", Kind: KindVerify, Work: verify, Sign: standardSign, New: svixVerify},
		{Name: "standard-webhooks Verify", Kind: KindVerify, Work: verify, Sign: standardSign, New: standardVerify},
		{Name: "openai-go Unwrap", Kind: KindDecode, Work: decode, Wrap: openaiEvent, Sign: standardSign, New: openaiUnwrap},
	}
}

func standardSign(body []byte, at time.Time) http.Header {
	const id = "msg_2xQ7mVn0b3Jc5Lr8"
	hook, err := standardwebhooks.NewWebhook(standardSecret)
	if err != nil {
		panic(err)
	}
	signature, err := hook.Sign(id, at, body)
	if err != nil {
		panic(err)
	}
	return http.Header{
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {signature},
	}
}

func svixVerify() Receiver {
	hook, err := svix.NewWebhook(standardSecret)
	if err != nil {
		panic(err)
	}
	return func(d *Delivery) (int, error) { return 0, hook.Verify(d.Body, d.Header) }
}

func standardVerify() Receiver {
	hook, err := standardwebhooks.NewWebhook(standardSecret)
	if err != nil {
		panic(err)
	}
	return func(d *Delivery) (int, error) { return 0, hook.Verify(d.Body, d.Header) }
}

func openaiEvent(payload []byte) []byte {
	return envelope(`{"id":"evt_1","object":"event","created_at":1795176000,"type":"response.completed","data":{"id":"resp_1","events":`, payload, `}}`)
}

func openaiUnwrap() Receiver {
	client := openai.NewClient(option.WithAPIKey("none"), option.WithWebhookSecret(standardSecret))
	return func(d *Delivery) (int, error) {
		event, err := client.Webhooks.Unwrap(d.Body, d.Header)
		if err != nil {
			return 0, err
		}
		switch event := event.AsAny().(type) {
		case webhooks.ResponseCompletedWebhookEvent:
			return len(event.Data.JSON.ExtraFields), nil
		default:
			return 0, fmt.Errorf("unexpected event %T", event)
		}
	}
}
