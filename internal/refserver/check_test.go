package refserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/storagetest"
)

// decaying is a storage whose files can lose a bit.
type decaying struct {
	storagetest.Memory
	decayed atomic.Bool
}

func (d *decaying) Blob(ctx context.Context, hash string) ([]byte, error) {
	data, err := d.Memory.Blob(ctx, hash)
	if err == nil && d.decayed.Load() {
		data[len(data)/2] ^= 1
	}
	return data, err
}

// A file that has changed since it was saved is never served. The error, the log and CheckStorage name the document.
func TestADamagedFileIsNotServed(t *testing.T) {
	storage, log := &decaying{}, &bytes.Buffer{}
	finish := func(_ context.Context, d refserver.DocumentState) ([]byte, error) {
		return append([]byte("%PDF finished "), d.PDF...), nil
	}
	srv := refserver.NewServer(t, &refserver.Options{Storage: storage, Finish: finish, Logger: slog.New(slog.NewTextHandler(log, nil))})
	id := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF original")})
	open := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF open")})
	require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
	require.NoError(t, srv.Settle(t.Context()))
	get := func(path string) int {
		resp, err := srv.HTTPClient().Get(srv.URL + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, get("/finished/"+id+".pdf"))
	require.NoError(t, srv.CheckStorage())

	storage.decayed.Store(true)
	for _, path := range []string{"/finished/" + id + ".pdf", "/documents/" + id + ".pdf"} {
		require.Equal(t, http.StatusServiceUnavailable, get(path), path)
	}
	for _, read := range []func(context.Context, string) ([]byte, error){srv.DocumentPDF, srv.FinishedPDF} {
		content, err := read(t.Context(), id)
		require.Nil(t, content)
		require.ErrorIs(t, err, refserver.ErrStorage)
		require.ErrorContains(t, err, "document "+id)
	}
	require.ErrorIs(t, srv.CheckStorage(), refserver.ErrStorage)
	require.ErrorContains(t, srv.CheckStorage(), "a file of document "+id+" cannot be read: it is damaged")
	require.NoError(t, srv.Signer(open, "ann@example.com").Sign())
	require.Equal(t, http.StatusServiceUnavailable, get("/finished/"+open+".pdf"), "no file is made from a damaged one")

	storage.decayed.Store(false)
	require.NoError(t, srv.CheckStorage())
	require.Equal(t, http.StatusOK, get("/finished/"+id+".pdf"))
	require.NoError(t, srv.Shutdown(t.Context()))
	require.Contains(t, log.String(), `of="document `+id+`"`)
}

// CheckRecords finds nothing in what a server has saved, and each thing that was made wrong in it.
func TestCheckRecords(t *testing.T) {
	saved := &storagetest.Memory{}
	srv := refserver.NewServer(t, &refserver.Options{Storage: saved})
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: []byte("%PDF template")})
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	document := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF document")})
	for _, body := range []string{
		`{"signingType":"PDF_TEMPLATE","documentId":"` + template + `","receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Buyer"}]}`,
		`{"signingType":"FORM_TEMPLATE","documentId":"` + form + `","receiversList":[{"name":"Ann","email":"ann@example.com"}]}`,
	} {
		status, answer := call(t, srv, http.MethodPost, "/pdf-template-lambda", body)
		require.Equal(t, http.StatusOK, status, "%v", answer)
	}
	_, err := srv.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	require.NoError(t, srv.Signer(document, "ann@example.com").Sign())
	srv.Close()

	var records, blobs []refserver.Record
	require.NoError(t, saved.Load(t.Context(), func(r refserver.Record) error {
		records = append(records, r)
		return nil
	}))
	whole, problems := checked(t, saved)
	require.Empty(t, problems)
	require.Equal(t, len(records), whole.Records)
	require.Len(t, whole.Files, 2)
	for hash, intact := range whole.Files {
		require.True(t, intact)
		blobs = append(blobs, refserver.Record{Kind: refserver.BlobKind, ID: hash})
	}
	of := func(kind string) (found refserver.Record) {
		for _, r := range records {
			if r.Kind == kind {
				found = r
			}
		}
		require.NotEmpty(t, found.ID, kind)
		return found
	}
	gone := func(kind string) refserver.Record { return refserver.Record{Kind: kind, ID: of(kind).ID} }
	cut := of("message")
	cut.Data = cut.Data[:len(cut.Data)/2]
	changed := blobs[0]
	changed.Data = []byte("%PDF other")
	for want, change := range map[string]refserver.Record{
		"reading message " + cut.ID:                                                 cut,
		" belongs to template " + template + ", which is missing":                   gone("template"),
		"form_link " + of("form_link").ID + " belongs to form " + form + ", which":  gone("form"),
		"response " + of("response").ID + " belongs to form " + form + ", which is": gone("form"),
		"holds records, but none of the service itself":                             gone("service"),
		"cannot be read: it is damaged":                                             changed,
		"cannot be read: no blob " + blobs[1].ID:                                    blobs[1],
		"which this version of the program does not know":                           {Kind: "later", ID: "1", Data: []byte("{}")},
		"it has version 99, and this version of the program":                        {Kind: "document", ID: "1", Data: []byte(`{"v":99,"at":1,"d":{}}`)},
	} {
		storage := saved.Copy()
		require.NoError(t, storage.Save(t.Context(), []refserver.Record{change}))
		_, problems := checked(t, storage)
		require.Contains(t, strings.Join(problems, "\n"), want)
	}
}

func checked(t *testing.T, storage refserver.Storage) (found refserver.Contents, problems []string) {
	t.Helper()
	found, err := refserver.CheckRecords(t.Context(), storage, func(problem string) { problems = append(problems, problem) })
	require.NoError(t, err)
	return found, problems
}
