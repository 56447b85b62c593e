package queue_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// The same process receives events and runs their functions: a delivery is answered 200 once its events are in the file.
func Example() {
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	q, err := queue.OpenSQLite("events.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	http.Handle("POST /webhook", q.Handler(verifier))
	go func() { log.Fatal(http.ListenAndServe(":8080", nil)) }()
	err = q.Run(context.Background(), webhook.Funcs{
		SignatureCompleted: func(_ context.Context, e *webhook.SignatureCompleted) error {
			fmt.Println("signed by all:", e.DocumentID)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
}

// Several processes share Postgres: any number of them receive, and any number work off.
func ExampleOpenPostgres() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	q, err := queue.OpenPostgres(ctx, pool, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
}

// After a mistake in a function was mended, the events that failed for it get another round of tries.
func ExampleQueue_Retry() {
	q, err := queue.OpenSQLite("events.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	ctx := context.Background()
	for entry, err := range q.List(ctx, queue.Filter{States: []queue.State{queue.Failed}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.ID, entry.Type, entry.Attempts, entry.Error)
	}
	n, err := q.Retry(ctx, queue.Filter{States: []queue.State{queue.Failed}})
	fmt.Println(n, err)
}
