package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

var commands = map[string]func(*command, context.Context, *queue.Queue) error{
	"list": (*command).list, "retry": (*command).retry, "erase": (*command).erase, "stats": (*command).stats,
}

// command is one command line.
type command struct {
	name     string
	file     string
	postgres string
	filter   queue.Filter
	json     bool
	sql      bool // create prints the SQL instead of running it
	out      io.Writer
}

func (c *command) parse(args []string, getenv func(string) string) error {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.file, "db", "", "")
	flags.StringVar(&c.postgres, "postgres", "", "")
	flags.BoolVar(&c.json, "json", false, "")
	switch c.name {
	case "stats":
	case "create":
		flags.BoolVar(&c.sql, "sql", false, "")
	default:
		c.filterFlags(flags)
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usage("%v", err)
	}
	if flags.NArg() > 0 {
		return usage("unexpected argument %q", flags.Arg(0))
	}
	if c.file == "" && c.postgres == "" {
		c.postgres = getenv("SIGNFORMS_QUEUE_POSTGRES")
	}
	if c.sql && c.file == "" {
		return nil
	}
	if (c.file == "") == (c.postgres == "") {
		return usage("set either -db or -postgres")
	}
	if c.name == "create" && c.file != "" {
		return usage("create is for Postgres: a SQLite file is made when the queue opens it")
	}
	if reflect.ValueOf(c.filter).IsZero() && (c.name == "retry" || c.name == "erase") {
		return usage("%s without a selection would select every event: select some with flags", c.name)
	}
	return nil
}

func (c *command) filterFlags(flags *flag.FlagSet) {
	f := &c.filter
	for _, state := range []queue.State{queue.Failed, queue.Pending, queue.Done} {
		flags.BoolFunc(string(state), "", func(text string) error {
			on, err := strconv.ParseBool(text)
			if on {
				f.States = append(f.States, state)
			}
			return err
		})
	}
	flags.Func("document", "", filled(func(id string) { f.Document = id }))
	flags.Func("response", "", filled(func(id string) { f.Response = id }))
	flags.Func("type", "", filled(func(name string) { f.Type = webhook.EventType(name) }))
	flags.Func("signer", "", filled(func(id string) { f.Signers = append(f.Signers, id) }))
	flags.Func("id", "", func(text string) error {
		id, err := strconv.ParseInt(text, 10, 64)
		f.IDs = append(f.IDs, id)
		return err
	})
	flags.Func("since", "", instant(&f.Since))
	flags.Func("before", "", instant(&f.Before))
}

// filled refuses an empty text. Otherwise -document "$ID" with an empty ID would set no condition
// and select all events.
func filled(set func(string)) func(string) error {
	return func(text string) error {
		if text == "" {
			return errors.New("is empty")
		}
		set(text)
		return nil
	}
}

// instant reads a time in RFC 3339, or a duration before now. It refuses a time in the future,
// because -before with such a time would select every event.
func instant(t *time.Time) func(string) error {
	return func(text string) error {
		if ago, err := time.ParseDuration(text); err == nil {
			*t = time.Now().Add(-ago)
		} else if *t, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("must be a time such as 2026-01-02T15:04:05Z, or a duration before now such as 24h")
		}
		if t.After(time.Now()) {
			return errors.New("is in the future: give a time in the past")
		}
		return nil
	}
}

// create makes the tables, or prints the SQL that makes them.
func (c *command) create(ctx context.Context) error {
	if c.sql {
		_, err := io.WriteString(c.out, queue.TablesSQL())
		return err
	}
	pool, err := pgxpool.New(ctx, c.postgres)
	if err != nil {
		return errUnreadableDSN
	}
	defer pool.Close()
	made, err := queue.CreateTables(ctx, pool)
	if err != nil {
		return err
	}
	if c.json {
		return json.NewEncoder(c.out).Encode(map[string]bool{"made": made})
	}
	_, err = io.WriteString(c.out, map[bool]string{true: "tables made\n", false: "the tables are there\n"}[made])
	return err
}

var errUnreadableDSN = errors.New("the Postgres DSN cannot be read") // the error of pgx is left out, because it may quote a password

// run opens the queue for the command. It makes no file and no tables; otherwise a mistyped path
// would become an empty queue.
func (c *command) run(ctx context.Context, do func(*command, context.Context, *queue.Queue) error) (err error) {
	var q *queue.Queue
	if c.file != "" {
		info, failed := os.Stat(c.file)
		if failed == nil && info.Size() == 0 {
			failed = fmt.Errorf("%s is empty: give the file of a queue", c.file)
		}
		if failed != nil {
			return failed
		}
		q, err = queue.OpenSQLite(c.file, nil)
	} else {
		pool, failed := pgxpool.New(ctx, c.postgres)
		if failed != nil {
			return errUnreadableDSN
		}
		defer pool.Close()
		var there bool
		failed = pool.QueryRow(ctx, "SELECT to_regclass('signforms_events') IS NOT NULL").Scan(&there)
		if failed == nil && !there {
			failed = errors.New("this database has no tables of a queue in the search_path")
		}
		if failed != nil {
			return fmt.Errorf("opening the database: %w", failed)
		}
		q, err = queue.OpenPostgres(ctx, pool, nil)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	return do(c, ctx, q)
}

func (c *command) list(ctx context.Context, q *queue.Queue) error {
	table := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	if !c.json {
		fmt.Fprintln(table, "ID\tSTATE\tTYPE\tSUBJECT\tATTEMPTS\tRECEIVED\tERROR")
	}
	lines := json.NewEncoder(c.out)
	for e, err := range q.List(ctx, c.filter) {
		switch {
		case err != nil:
			return err
		case c.json:
			err = lines.Encode(e)
		default:
			_, err = fmt.Fprintf(table, "%d\t%s\t%s\t%.60q\t%d\t%s\t%.80q\n",
				e.ID, e.State, e.Type, e.Subject, e.Attempts, e.Received.Format(time.RFC3339), e.Error)
		}
		if err != nil {
			return err
		}
	}
	return table.Flush()
}

func (c *command) retry(ctx context.Context, q *queue.Queue) error {
	n, err := q.Retry(ctx, c.filter)
	return errors.Join(c.count(n, "retried"), err)
}

func (c *command) erase(ctx context.Context, q *queue.Queue) error {
	n, err := q.Erase(ctx, c.filter)
	return errors.Join(c.count(n, "erased"), err)
}

func (c *command) count(n int, done string) error {
	if c.json {
		return json.NewEncoder(c.out).Encode(map[string]int{done: n})
	}
	_, err := fmt.Fprintf(c.out, "%d %s\n", n, done)
	return err
}

func (c *command) stats(ctx context.Context, q *queue.Queue) error {
	s, err := q.Stats(ctx)
	if err != nil {
		return err
	}
	figures := []struct {
		name  string
		value int64
	}{
		{"pending", int64(s.Pending)}, {"failed", int64(s.Failed)}, {"ordering_keys", int64(s.OrderingKeys)}, {"due_ordering_keys", int64(s.DueOrderingKeys)},
		{"running", int64(s.Running)}, {"lag_ms", s.Lag.Milliseconds()}, {"oldest_ms", s.Oldest.Milliseconds()},
		{"blocked_ordering_keys", int64(s.BlockedOrderingKeys)}, {"received_last_minute", int64(s.ReceivedLastMinute)},
		{"processed_last_minute", int64(s.ProcessedLastMinute)}, {"failed_last_minute", int64(s.FailedLastMinute)},
	}
	if c.json {
		object := map[string]any{"blocked": append([]queue.Blocked{}, s.Blocked...)}
		for _, f := range figures {
			object[f.name] = f.value
		}
		return json.NewEncoder(c.out).Encode(object)
	}
	table := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	for _, f := range figures {
		more := ""
		if f.value == queue.CountLimit && !strings.HasSuffix(f.name, "_ms") {
			more = " or more"
		}
		fmt.Fprintf(table, "%s\t%d%s\n", f.name, f.value, more)
	}
	for _, b := range s.Blocked {
		fmt.Fprintf(table, "blocked\t%.100q by event %d: %d tries, next %s, %d wait: %.80q\n", b.OrderingKey, b.ID, b.Attempts, b.Due.Format(time.RFC3339), b.Waiting, b.Error)
	}
	return table.Flush()
}
