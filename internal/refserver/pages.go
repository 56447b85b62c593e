package refserver

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// openSigningLink is what a signer's browser does: it shows the document, which counts as viewing it.
func (s *Server) openSigningLink(w http.ResponseWriter, r *http.Request, token string) {
	var d signing.Document
	var signer int
	found := false
	s.store.View(func(tx *store.Tx) error {
		d, signer, found = tx.DocumentByToken(token)
		return nil
	})
	if !found {
		page(w, http.StatusNotFound, "No such link", "This signing link does not exist.")
		return
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = SignerIP // the network in memory has no addresses
	}
	id := d.Signers[signer].ID
	err = s.Act(d.ID, func(d signing.Document, at time.Time) (signing.Change, error) { return d.View(id, ip, at) })
	if err != nil {
		page(w, http.StatusConflict, d.Name, err.Error())
		return
	}
	page(w, http.StatusOK, d.Name, "Waiting for the signature of "+d.Signers[signer].Name+".")
}

func page(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	w.WriteHeader(status)
	title, text = html.EscapeString(title), html.EscapeString(text)
	fmt.Fprintf(w, "<!doctype html>\n<title>%s</title>\n<h1>%s</h1>\n<p>%s</p>\n", title, title, text)
}
