package service

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// answers returns a look that gives these answers, the last of them for ever, and the time of each look since the first.
func answers(all ...any) (look func(context.Context) (signforms.DocumentStatus, any, error), times *[]time.Duration) {
	times = &[]time.Duration{}
	began := time.Now()
	return func(ctx context.Context) (signforms.DocumentStatus, any, error) {
		*times = append(*times, time.Since(began))
		now := all[0]
		if len(all) > 1 {
			all = all[1:]
		}
		switch now := now.(type) {
		case signforms.DocumentStatus:
			return now, "the record", nil
		case error:
			return "", nil, now
		case time.Duration: // an answer that does not come
			select {
			case <-ctx.Done():
			case <-time.After(now):
			}
		}
		return "", nil, &signforms.Error{Call: "get document", StatusCode: 503}
	}, times
}

func seconds(all ...float64) (times []time.Duration) {
	for _, s := range all {
		times = append(times, time.Duration(s*float64(time.Second)))
	}
	return times
}

func TestWaitsGrow(t *testing.T) {
	busy := func(after time.Duration) error { return &signforms.Error{StatusCode: 429, RetryAfter: after} }
	down, gone, forbidden := &signforms.Error{StatusCode: 503}, &signforms.Error{StatusCode: 404}, &signforms.Error{StatusCode: 403}
	for name, c := range map[string]struct {
		answers []any
		timeout time.Duration
		want    signforms.DocumentStatus
		code    int
		says    string
		times   []time.Duration
		ends    time.Duration
	}{
		"at once":                      {answers: []any{signforms.StatusSigned}, times: seconds(0)},
		"from 1 to 30 seconds":         {answers: []any{signforms.StatusDraft, signforms.StatusPending}, timeout: 2 * time.Minute, code: cli.ExitFailure, says: "not SIGNED within 2m0s: the document is PENDING", times: seconds(0, 1, 3, 7, 15, 31, 61, 91, 120), ends: 120 * time.Second},
		"reached later":                {answers: []any{signforms.StatusPending, signforms.StatusPending, signforms.StatusSigned}, times: seconds(0, 1, 3), ends: 3 * time.Second},
		"in small letters":             {answers: []any{signforms.DocumentStatus("signed")}, times: seconds(0)},
		"another end":                  {answers: []any{signforms.StatusPending, signforms.StatusDeclined}, code: cli.ExitPartial, says: "the document is DECLINED, which no longer changes", times: seconds(0, 1), ends: time.Second},
		"signed is no end before paid": {answers: []any{signforms.StatusSigned, signforms.StatusPaid}, want: signforms.StatusPaid, times: seconds(0, 1), ends: time.Second},
		"an unknown status is no end":  {answers: []any{signforms.DocumentStatus("NEW"), signforms.StatusSigned}, times: seconds(0, 1), ends: time.Second},
		"trouble passes":               {answers: []any{down, down, busy(20 * time.Second), signforms.StatusSigned}, times: seconds(0, 1, 3, 23), ends: 23 * time.Second},
		"asked to wait for too long":   {answers: []any{busy(time.Hour)}, timeout: time.Minute, code: cli.ExitFailure, says: "within 1m0s: signforms: 429", times: seconds(0), ends: time.Minute},
		"no answer":                    {answers: []any{time.Hour}, timeout: time.Minute, code: cli.ExitFailure, says: "not SIGNED within 1m0s: there was no answer", times: seconds(0), ends: time.Minute},
		"not found":                    {answers: []any{gone}, code: cli.ExitFailure, says: "404", times: seconds(0)},
		"not found any more":           {answers: []any{signforms.StatusPending, gone}, code: cli.ExitFailure, says: "404", times: seconds(0, 1), ends: time.Second},
		"forbidden":                    {answers: []any{forbidden}, code: cli.ExitFailure, says: "403", times: seconds(0)},
		"a second":                     {answers: []any{signforms.StatusPending}, timeout: time.Second, code: cli.ExitFailure, says: "not SIGNED within 1s", times: seconds(0, 1), ends: time.Second},
		"at the last moment":           {answers: []any{signforms.StatusPending, signforms.StatusPending, signforms.StatusSigned}, timeout: 2 * time.Second, times: seconds(0, 1, 2), ends: 2 * time.Second},
		"the last look takes a second": {answers: []any{signforms.StatusPending, time.Hour}, timeout: time.Second, code: cli.ExitFailure, says: "not SIGNED within 1s: the document is PENDING", times: seconds(0, 1), ends: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := looks{want: []signforms.DocumentStatus{signforms.StatusSigned}, timeout: 10 * time.Minute, stderr: io.Discard}
				if c.want != "" {
					w.want[0] = c.want
				}
				if c.timeout != 0 {
					w.timeout = c.timeout
				}
				var times *[]time.Duration
				w.look, times = answers(c.answers...)
				began := time.Now()
				_, record, err := w.run(t.Context())
				require.Equal(t, c.code, cli.ExitCode(err), "%v", err)
				require.Equal(t, c.code == cli.ExitOK || c.code == cli.ExitPartial, record != nil)
				if c.says != "" {
					require.ErrorContains(t, err, c.says)
				}
				require.Equal(t, c.times, *times)
				require.Equal(t, c.ends, time.Since(began))
			})
		})
	}
}

// What changes is said once.
func TestWaitSaysWhatItSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		down := &signforms.Error{Call: "get document", StatusCode: 503}
		w := looks{want: []signforms.DocumentStatus{signforms.StatusSigned}, timeout: time.Hour, stderr: &said}
		w.look, _ = answers(signforms.StatusPending, signforms.StatusPending, down, down, signforms.StatusPending, signforms.StatusSigned)
		_, _, err := w.run(t.Context())
		require.NoError(t, err)
		require.Equal(t, "the document is PENDING\nget document: 503\nthe document is PENDING\n", said.String())
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := looks{want: []signforms.DocumentStatus{signforms.StatusSigned}, timeout: time.Hour, stderr: io.Discard}
		w.look, _ = answers(signforms.StatusPending)
		time.AfterFunc(100*time.Second, cancel)
		began := time.Now()
		_, _, err := w.run(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 100*time.Second, time.Since(began))
	})
}
