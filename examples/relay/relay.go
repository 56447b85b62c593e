package relay

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	wmnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

const (
	stream = "SIGNFORMS"
	topic  = "signforms.events" // the topic in Kafka, the subject in NATS

	// partitionKey is the metadata key of an event's ordering key. Messages of the same ordering key must stay in order.
	partitionKey = "partition_key"
	eventType    = "event_type"

	// duplicateWindow is how long JetStream remembers a message id. A repeat after that is a duplicate in the stream.
	duplicateWindow = time.Hour
)

// relay returns functions that publish every event, including events that could not be decoded. The consumer calls
// webhook.Parse on the payload. The publisher must return only after the broker has confirmed.
func relay(publisher message.Publisher) webhook.Funcs {
	publish := func(ctx context.Context, e webhook.Event) error {
		entry, ok := queue.EntryFromContext(ctx)
		if !ok {
			return webhook.Permanent(errors.New("relay: not called by a queue"))
		}
		m := message.NewMessageWithContext(ctx, entry.Key, message.Payload(e.Raw()))
		m.Metadata.Set(partitionKey, entry.OrderingKey)
		m.Metadata.Set(eventType, string(e.EventType()))
		return publisher.Publish(topic, m)
	}
	return webhook.Funcs{
		Default: publish,
		Unknown: func(ctx context.Context, e *webhook.UnknownEvent) error { return publish(ctx, e) },
	}
}

// newNATS returns a Publisher to a JetStream stream. It makes the stream if it is missing. The server must sync each
// message (jetstream { sync_interval: always }): by default it confirms messages that a power failure can still lose.
// All messages have one subject, so that the stream keeps their order. A consumer that wants to process ordering keys in
// parallel partitions by the header partition_key.
func newNATS(ctx context.Context, url string) (message.Publisher, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, err
	}
	if err := ensureStream(ctx, conn); err != nil {
		conn.Close()
		return nil, err
	}
	return wmnats.NewPublisherWithNatsConn(conn, wmnats.PublisherPublishConfig{
		Marshaler:         &wmnats.NATSMarshaler{},
		SubjectCalculator: wmnats.DefaultSubjectCalculator,
		JetStream:         wmnats.JetStreamConfig{TrackMsgId: true}, // sends Nats-Msg-Id and waits for the confirmation
	}, watermill.NopLogger{})
}

// ensureStream makes the stream. It waits for a server that is not running yet.
func ensureStream(ctx context.Context, conn *nats.Conn) error {
	js, err := conn.JetStream()
	if err != nil {
		return err
	}
	config := &nats.StreamConfig{
		Name: stream, Subjects: []string{"signforms.>"}, Storage: nats.FileStorage, Duplicates: duplicateWindow,
	}
	for {
		if _, err = js.AddStream(config); err == nil || errors.Is(err, nats.ErrStreamNameAlreadyInUse) {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// newKafka returns a Publisher to a Kafka topic, keyed by ordering key. Idempotence keeps the order when the producer itself
// retries. It does not cover a restart of this program: consumers recognise such repeats by the message id in the
// header _watermill_message_uuid.
func newKafka(brokers []string) (message.Publisher, error) {
	config := kafka.DefaultSaramaSyncPublisherConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	return kafka.NewPublisher(kafka.PublisherConfig{
		Brokers: brokers,
		Marshaler: kafka.NewWithPartitioningMarshaler(func(_ string, m *message.Message) (string, error) {
			return m.Metadata.Get(partitionKey), nil
		}),
		OverwriteSaramaConfig: config,
	}, watermill.NopLogger{})
}
