package bench

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	githubapp89 "github.com/google/go-github/v89/github"
	"github.com/google/go-github/v92/github"
	"github.com/palantir/go-githubapp/githubapp"
)

// GitHub signs only the body, so there is no timestamp to check. Its deliveries have an id. These libraries do not check the id for
// repeats.

const dispatchEvent = "repository_dispatch"

func githubRows() []Row {
	verify := Work{Clock: "–", Decode: DecodesNot, Copies: "–", Repeat: "–"}
	decode := Work{Clock: "–", Decode: DecodesEnvelope, Copies: "grown while read; raw data", Repeat: "–"}
	return []Row{
		{Name: "go-github ValidateSignature", Kind: KindVerify, Work: verify, Sign: githubSign, New: func() Receiver {
			return func(d *Delivery) (int, error) {
				return 0, github.ValidateSignature(d.Header.Get(github.SHA256SignatureHeader), d.Body, []byte(Secret))
			}
		}},
		{Name: "go-github ValidatePayload + ParseWebHook", Kind: KindDecode, Work: decode, Wrap: githubDispatch, Sign: githubSign, New: githubParse},
		{Name: "go-githubapp EventDispatcher", Kind: KindHandler, Work: decode, Wrap: githubDispatch, Sign: githubSign, New: githubDispatcher},
	}
}

// githubDispatch returns the one event of GitHub that carries a payload chosen by a caller.
func githubDispatch(payload []byte) []byte {
	return envelope(`{"action":"signed","branch":"main","client_payload":{"events":`, payload, `},"repository":{"id":1,"name":"app","full_name":"example/app"},"sender":{"login":"octocat","id":1}}`)
}

func githubSign(body []byte, _ time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write(body)
	return http.Header{
		github.SHA256SignatureHeader: {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
		github.EventTypeHeader:       {dispatchEvent},
		github.DeliveryIDHeader:      {"3f1c9b70-c4a5-11f0-9d5e-2f7b8c6d4e10"},
	}
}

func githubParse() Receiver {
	return func(d *Delivery) (int, error) {
		r := d.Request()
		payload, err := github.ValidatePayload(r, []byte(Secret))
		if err != nil {
			return 0, err
		}
		event, err := github.ParseWebHook(github.WebHookType(r), payload)
		if err != nil {
			return 0, err
		}
		switch event := event.(type) {
		case *github.RepositoryDispatchEvent:
			return min(1, len(event.ClientPayload)), nil
		default:
			return 0, fmt.Errorf("unexpected event %T", event)
		}
	}
}

type dispatchHandler struct{ decoded *int }

func (dispatchHandler) Handles() []string { return []string{dispatchEvent} }

func (h dispatchHandler) Handle(_ context.Context, _, _ string, payload []byte) error {
	var event githubapp89.RepositoryDispatchEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return err
	}
	*h.decoded += min(1, len(event.ClientPayload))
	return nil
}

func githubDispatcher() Receiver {
	decoded := 0
	var config githubapp.Config
	config.App.WebhookSecret = Secret
	return serving(githubapp.NewDefaultEventDispatcher(config, dispatchHandler{&decoded}), &decoded)
}
