// Command standard is the program that coldbuild builds for comparison: a receiver and a call with only the standard library. It is
// not meant to be run.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
)

func main() {
	secret := []byte(os.Getenv("SIGNFORMS_WEBHOOK_SECRET"))
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		mac := hmac.New(sha256.New, secret)
		io.WriteString(mac, r.Header.Get("X-Timestamp")+".")
		mac.Write(body)
		if err != nil || !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(r.Header.Get("X-Signature"))) {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		var events []struct {
			DocumentID string `json:"documentId"`
		}
		if err := json.Unmarshal(body, &events); err != nil {
			http.Error(w, "invalid", http.StatusBadRequest)
			return
		}
		for _, event := range events {
			resp, err := http.Post(os.Getenv("SIGNFORMS_BASE_URL")+"/send-reminder?documentId="+event.DocumentID, "application/json", bytes.NewReader(nil))
			if err != nil {
				slog.Error("reminding", "error", err)
				continue
			}
			resp.Body.Close()
		}
	})))
}
