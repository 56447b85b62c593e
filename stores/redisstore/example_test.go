package redisstore_test

import (
	"log"
	"os"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/stores/redisstore"
	"github.com/signforms/signforms-go/webhook"
)

// All processes that use the API key share one reminder budget.
func ExampleNewLimitStore() {
	client, err := redisstore.NewClient(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	signer, err := signforms.New(os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY"), &signforms.Options{
		LimitStore: redisstore.NewLimitStore(client, "signforms:"),
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = signer
}

// All processes behind one address know which events were processed.
func ExampleNewReplayStore() {
	client, err := redisstore.NewClient(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	options := &webhook.HandlerOptions{ReplayStore: redisstore.NewReplayStore(client, "signforms:")}
	_ = options
}
