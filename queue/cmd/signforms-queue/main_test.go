package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// do runs a command line and returns the exit code and what was printed.
func do(t *testing.T, env string, args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	getenv := func(name string) string {
		require.Equal(t, "SIGNFORMS_QUEUE_POSTGRES", name)
		return env
	}
	code = run(t.Context(), args, getenv, &out, &errs)
	return code, out.String(), errs.String()
}

// newFile makes a queue with one failed event, of document d1, and one that is pending, of d2.
func newFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "events.db")
	q, err := queue.OpenSQLite(path, &queue.Options{Retries: []time.Duration{}})
	require.NoError(t, err)
	store := func(document string) {
		events, err := webhook.Parse(webhooktest.Payload(&webhook.SignatureCompleted{Document: webhook.Document{DocumentID: document}}))
		require.NoError(t, err)
		require.NoError(t, q.Store(t.Context(), events))
	}
	store("d1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, q.Run(ctx, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
		cancel()
		return webhook.Permanent(errors.New("no\tluck"))
	}}))
	store("d2")
	require.NoError(t, q.Close())
	return path
}

func TestCommands(t *testing.T) {
	path := newFile(t)
	code, out, errs := do(t, "", "list", "-db", path)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "1   failed   new_signature_pdf_completed  \"d1\"")
	require.Contains(t, out, `"no\tluck"`)
	require.Contains(t, out, "2   pending")

	_, out, _ = do(t, "", "list", "-db", path, "-json", "-failed", "-since", "1h")
	var e map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.Subset(t, e, map[string]any{
		"id": 1.0, "state": "failed", "type": "new_signature_pdf_completed", "subject": "d1", "ordering_key": "document:d1", "attempts": 1.0, "error": "no\tluck",
	})
	require.Len(t, e, 10)
	for _, name := range []string{"key", "received", "settled"} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, e, name)
		})
	}

	_, out, _ = do(t, "", "stats", "-db", path, "-json")
	var stats map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &stats))
	require.EqualValues(t, 1, stats["pending"])
	require.EqualValues(t, 1, stats["failed"])
	require.Equal(t, []any{}, stats["blocked"])
	_, out, _ = do(t, "", "stats", "-db", path)
	require.Contains(t, out, "pending                1\nfailed                 1\n")

	_, out, _ = do(t, "", "retry", "-db", path, "-failed")
	require.Equal(t, "1 retried\n", out)
	_, out, _ = do(t, "", "erase", "-db", path, "-document", "d1", "-json")
	require.JSONEq(t, `{"erased":1}`, out)
	_, out, _ = do(t, "", "erase", "-db", path, "-id", "2", "-id", "77")
	require.Equal(t, "1 erased\n", out)
	_, out, _ = do(t, "", "list", "-db", path, "-pending", "-failed", "-json")
	require.Empty(t, out)
}

func TestExitCodes(t *testing.T) {
	path := newFile(t)
	empty := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, c := range []struct {
		args string
		env  string
		code int
		says string
	}{
		{args: "", env: "", code: exitUsage, says: "no command"},
		{args: "purge", env: "", code: exitUsage, says: `unknown command "purge"`},
		{args: "list", env: "", code: exitUsage, says: "set either -db or -postgres"},
		{args: "list -db x -postgres y", env: "", code: exitUsage, says: "set either -db or -postgres"},
		{args: "list -db " + path + " -nonsense", env: "", code: exitUsage, says: "flag provided but not defined"},
		{args: "list -db " + path + " extra", env: "", code: exitUsage, says: `unexpected argument "extra"`},
		{args: "list -db " + path + " -since yesterday", env: "", code: exitUsage, says: "such as 2026-01-02T15:04:05Z, or a duration before now such as 24h"},
		{args: "list -db " + path + " -since 2999-01-01T00:00:00Z", env: "", code: exitUsage, says: "is in the future"},
		{args: "erase -db " + path + " -before -24h", env: "", code: exitUsage, says: "is in the future"},
		{args: "stats -db " + path + " -failed", env: "", code: exitUsage, says: "not defined"},
		{args: "erase -db " + path, env: "", code: exitUsage, says: "would select every event"},
		{args: "retry -db " + path + " -json", env: "", code: exitUsage, says: "would select every event"},
		{args: "list -db " + path + ".missing", env: "", code: exitFailure, says: "no such file"},
		{args: "list", env: "postgres://user:hunter2@%zz", code: exitFailure, says: "DSN cannot be read"},
		{args: "create -db " + path, env: "", code: exitUsage, says: "made when the queue opens it"},
		{args: "create", env: "", code: exitUsage, says: "set either -db or -postgres"},
		{args: "create", env: "postgres://user:hunter2@%zz", code: exitFailure, says: "DSN cannot be read"},
		{args: "create", env: "host=/nonexistent user=u", code: exitFailure, says: "making the tables"},
		{args: "list -db " + empty, env: "", code: exitFailure, says: "is empty"},
		{args: "list", env: "host=/nonexistent user=u", code: exitFailure, says: "opening the database"},
		{args: "erase -failed -document= -db " + path, env: "", code: exitUsage, says: "-document: is empty"},
		{args: "retry -signer= -db " + path, env: "", code: exitUsage, says: "-signer: is empty"},
		{args: "retry -failed=false -db " + path, env: "", code: exitUsage, says: "would select every event"},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, out, errs := do(t, c.env, strings.Fields(c.args)...)
			require.Equal(t, c.code, code, c.args+errs)
			require.Contains(t, errs, c.says)
			require.NotContains(t, errs, "hunter2")
			require.Empty(t, out)
		})
	}
	info, err := os.Stat(empty)
	require.NoError(t, err)
	require.Zero(t, info.Size(), "looking makes no tables")
	code, out, _ := do(t, "", "create", "-sql")
	require.Zero(t, code)
	require.Equal(t, queue.TablesSQL(), out)
	for _, args := range [][]string{{"help"}, {"list", "-h"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			code, out, _ := do(t, "", args...)
			require.Zero(t, code)
			require.Equal(t, help, out)
		})
	}
}
