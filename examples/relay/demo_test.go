package relay

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// startNATS starts a NATS server in this process. It syncs each message to the disk before it confirms it. Port -1 means a free one.
func startNATS(dir string, port int) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: filepath.Join(dir, "jetstream"), SyncAlways: true,
		JetStreamMaxStore: 1 << 30, JetStreamMaxMemory: 1 << 26,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		return nil, errors.New("the NATS server is not ready")
	}
	return s, nil
}

// runDemo relays the events of an embedded service to an embedded NATS server, and prints what a consumer gets.
func runDemo(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "relay-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	broker, err := startNATS(folder, -1)
	if err != nil {
		return err
	}
	defer broker.WaitForShutdown()
	defer broker.Shutdown()
	db := filepath.Join(folder, "events.db")
	stored, err := receive(ctx, db)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	relayed := make(chan error, 1)
	go func() { relayed <- Run(ctx, db, broker.ClientURL(), "") }()
	err = consume(ctx, broker.ClientURL(), stored)
	stop()
	return errors.Join(err, <-relayed)
}

// receive stores the events of two documents that are signed at an embedded service, and returns their number.
func receive(ctx context.Context, db string) (stored int, err error) {
	srv, err := signformstest.Start(nil)
	if err != nil {
		return 0, err
	}
	defer srv.Close()
	q, err := queue.OpenSQLite(db, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
	if err != nil {
		return 0, err
	}
	receiver := httptest.NewServer(q.Handler(verifier))
	defer receiver.Close()
	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilySignatureCompleted})
	for _, name := range []string{"Lease", "Offer"} {
		ann := srv.Signer(srv.AddDocument(signformstest.Document{Name: name, Signers: []signformstest.Signer{{Email: "ann@example.com"}}}), "ann@example.com")
		if err := errors.Join(ann.View(), ann.Sign(), srv.WaitDeliveries(ctx)); err != nil {
			return 0, err
		}
	}
	stats, err := q.Stats(ctx)
	return int(stats.Pending), err
}

// consume prints n messages of the stream. Each names its line, in which messages are in order.
func consume(ctx context.Context, url string, n int) error {
	conn, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := ensureStream(ctx, conn); err != nil {
		return err
	}
	js, err := conn.JetStream()
	if err != nil {
		return err
	}
	messages, err := js.SubscribeSync(topic, nats.OrderedConsumer())
	if err != nil {
		return err
	}
	for range n {
		m, err := messages.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		fmt.Println(m.Header.Get(partitionKey), m.Header.Get(eventType))
	}
	fmt.Println(n, "of", n, "events arrived in the stream")
	return nil
}
