// Package relay publishes the events of a queue to a streaming platform: NATS JetStream, Kafka, or any other for which
// Watermill has a Publisher that waits for confirmations. It is code to copy from.
//
// It processes the queue that a receiving process fills (see docs/receiving.md). The same process can do both. An event
// is done when the broker has confirmed it. Events of one ordering key arrive in order, each at least once. An event whose
// confirmation was lost is published again with the same message id.
package relay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/signforms/signforms-go/queue"
)

// Run relays the queue in the file db until ctx ends: to the NATS server at a URL, or to Kafka brokers, host:port
// separated by commas.
func Run(ctx context.Context, db, nats, kafka string) error {
	publisher, err := newPublisher(ctx, nats, kafka)
	if err != nil {
		return err
	}
	defer publisher.Close()
	q, err := queue.OpenSQLite(db, &queue.Options{Timeout: 10 * time.Second, Retries: patient()})
	if err != nil {
		return err
	}
	return errors.Join(q.Run(ctx, relay(publisher)), q.Close())
}

func newPublisher(ctx context.Context, nats, kafka string) (message.Publisher, error) {
	switch {
	case (nats == "") == (kafka == ""):
		return nil, errors.New("want one of nats and kafka")
	case nats != "":
		return newNATS(ctx, nats)
	}
	return newKafka(strings.Split(kafka, ","))
}

// patient returns retries for up to a week, for a broker that is down. Meanwhile the queue keeps accepting events.
func patient() []time.Duration {
	waits := []time.Duration{time.Second, 5 * time.Second}
	for total := time.Duration(0); total < 7*24*time.Hour; total += time.Minute {
		waits = append(waits, time.Minute)
	}
	return waits
}
