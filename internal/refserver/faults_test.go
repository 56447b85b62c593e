package refserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// list makes one raw list request. It returns the error of the request or of reading the body.
func list(srv *servicetest.Server, query string) (*http.Response, string, error) {
	req, err := http.NewRequest("GET", srv.URL+"/get-documents"+query, nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("x-api-key", srv.APIKey)
	req.Close = true // net/http repeats a GET when a kept connection breaks
	resp, err := srv.HTTPClient().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// requireFaultsHappen fails the test at its end if a fault was set, not taken back, and never happened.
func requireFaultsHappen(t *testing.T, srv *servicetest.Server) {
	t.Cleanup(func() {
		for _, f := range srv.Faults() {
			require.Positive(t, f.Happened, "%s", f)
		}
	})
}

func TestFault_changesTheResponse(t *testing.T) {
	srv := servicetest.Start(t, nil)
	requireFaultsHappen(t, srv)
	srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	with := func(f refserver.Fault) (*http.Response, string, error) {
		t.Helper()
		f.Times = 1
		remove := srv.Fail(f)
		resp, body, err := list(srv, "")
		remove()
		return resp, body, err
	}

	resp, body, err := with(refserver.Fault{Status: 429, RetryAfter: "17", Body: `{"message":"slow down"}`})
	require.NoError(t, err)
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "17", resp.Header.Get("Retry-After"))
	require.Equal(t, `{"message":"slow down"}`, body)

	resp, body, err = with(refserver.Fault{Status: 502})
	require.NoError(t, err)
	require.Empty(t, body)
	require.Empty(t, resp.Header.Get("Content-Type"), "an empty body is not JSON")

	resp, body, err = with(refserver.Fault{Body: "<html>"})
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "<html>", body)

	_, _, err = with(refserver.Fault{Reset: true})
	require.ErrorIs(t, err, syscall.ECONNRESET)

	_, body, err = with(refserver.Fault{Cut: 10})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, body, 10)
	require.True(t, srv.Requests()[4].AnswerLost)

	_, body, err = with(refserver.Fault{Cut: 1 << 20})
	require.NoError(t, err, "there is not so much to cut")
	require.True(t, strings.HasSuffix(body, "}"), body)

	_, body, err = with(refserver.Fault{Unknown: true})
	require.NoError(t, err)
	require.Contains(t, body, `"status":"FROM_THE_FUTURE"`)
	require.Contains(t, body, `"signingType":"FROM_THE_FUTURE"`)
	require.Contains(t, body, `"documentName":"Lease"`)
	require.Equal(t, 4, strings.Count(body, `"fieldFromTheFuture"`), "in the page, its pagination, the document and its signer: %s", body)

	_, body, err = list(srv, "")
	require.NoError(t, err)
	require.Contains(t, body, `"documentName":"Lease"`, "each fault happened once")
	notes := 0
	for _, r := range srv.Requests() {
		notes += len(r.Notes)
	}
	require.Equal(t, 7, notes, "the request log tells which requests met a fault")
}

func TestFault_beforeAndAfterTheWork(t *testing.T) {
	srv := servicetest.Start(t, nil)
	for _, c := range []struct {
		fault refserver.Fault
		done  bool
	}{
		{fault: refserver.Fault{Reset: true}, done: false},
		{fault: refserver.Fault{Reset: true, AfterWork: true}, done: true},
		{fault: refserver.Fault{Status: 503}, done: false},
		{fault: refserver.Fault{Status: 503, AfterWork: true}, done: true},
		{fault: refserver.Fault{Cut: 5}, done: true},
	} {
		doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		c.fault.Operation, c.fault.DocumentID = refserver.VoidDocument, doc
		remove := srv.Fail(c.fault)
		req, err := http.NewRequest("POST", srv.URL+"/void-document?documentType=PDF&documentId="+doc, nil)
		require.NoError(t, err)
		req.Header.Set("x-api-key", srv.APIKey)
		if resp, err := srv.HTTPClient().Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			require.NotEqual(t, c.fault.Reset, true)
		}
		_, body, err := list(srv, "?documentId="+doc)
		require.NoError(t, err)
		require.Equal(t, c.done, strings.Contains(body, `"status":"VOID"`), "%+v: %s", c.fault, body)
		remove()
		status, _ := call(t, srv, "POST", "/void-document?documentType=PDF&documentId="+doc, "")
		require.Equal(t, 200, status, "the fault was taken back")
	}
}

func TestFault_nthMatch(t *testing.T) {
	for _, c := range []struct {
		fault refserver.Fault
		want  string // a letter per request: x for a fault
	}{
		{fault: refserver.Fault{}, want: "xxxxxx"},
		{fault: refserver.Fault{Nth: 1}, want: "x....."},
		{fault: refserver.Fault{Nth: 3}, want: "..x..."},
		{fault: refserver.Fault{Times: 2}, want: "xx...."},
		{fault: refserver.Fault{Nth: 2, Times: 3}, want: ".xxx.."},
		{fault: refserver.Fault{Operation: refserver.SendReminder}, want: "......"},
		{fault: refserver.Fault{DocumentID: "0b4aa1dd-0000-4000-8000-000000000000"}, want: "......"},
		{fault: refserver.Fault{Probability: 1}, want: "xxxxxx"},
		{fault: refserver.Fault{Probability: 1e-12}, want: "......"},
	} {
		t.Run(c.want, func(t *testing.T) {
			srv := servicetest.Start(t, nil)
			c.fault.Status = 500
			srv.Fail(c.fault)
			got := ""
			for range 6 {
				resp, _, err := list(srv, "")
				require.NoError(t, err)
				if resp.StatusCode == 500 {
					got += "x"
				} else {
					got += "."
				}
			}
			require.Equal(t, c.want, got, "%+v", c.fault)
		})
	}
}

func TestFault_probabilityFollowsTheSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, before ...refserver.Fault) (pattern string) {
		srv := servicetest.Start(t, &refserver.Options{Seed: seed})
		for _, f := range before {
			srv.Fail(f)
		}
		srv.Fail(refserver.Fault{Probability: 0.5, Status: 500})
		for range 64 {
			resp, _, err := list(srv, "")
			require.NoError(t, err)
			pattern += string(rune('0' + resp.StatusCode/100))
		}
		return pattern
	}
	first := run(7)
	require.Equal(t, first, run(7))
	require.NotEqual(t, first, run(8))
	require.NotEqual(t, first, run(7, refserver.Fault{Operation: refserver.Send, Status: 500}), "the second fault has dice of its own")
	require.Greater(t, strings.Count(first, "5"), 16)
	require.Less(t, strings.Count(first, "5"), 48)
}

func TestFault_slowResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		defer srv.Close()
		for _, after := range []bool{false, true} {
			remove := srv.Fail(refserver.Fault{Latency: 7 * time.Second, AfterWork: after})
			start := time.Now()
			_, _, err := list(srv, "")
			require.NoError(t, err)
			require.Equal(t, 7*time.Second, time.Since(start))
			remove()
		}
	})
}

func TestFault_clientHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		defer srv.Close()
		doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		srv.Fail(refserver.Fault{Operation: refserver.VoidDocument, Latency: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/void-document?documentType=PDF&documentId="+doc, nil)
		require.NoError(t, err)
		req.Header.Set("x-api-key", srv.APIKey)
		_, err = srv.HTTPClient().Do(req)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		_, body, err := list(srv, "?documentId="+doc)
		require.NoError(t, err)
		require.Contains(t, body, `"status":"VOID"`)
	})
}
