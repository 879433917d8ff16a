// A receiver on net/http: WEBHOOK_SECRET=whsec_... go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	bodyBytesMax = 1_000_000
)

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

type receiver struct {
	secret []byte
	seen   sync.Map
}

// isNew: in production, insert the id into a table with a unique index, in the transaction that does the work.
func (r *receiver) isNew(eventID string) bool {
	_, isSeen := r.seen.LoadOrStore(eventID, struct{}{})
	return !isSeen
}

func (r *receiver) isSigned(header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	now := time.Now()
	if sentAt := time.Unix(seconds, 0); sentAt.Before(now.Add(-tolerance)) || sentAt.After(now.Add(tolerance)) {
		return false
	}
	mac := hmac.New(sha256.New, r.secret)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// One signature for each secret: two during a secret rotation.
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	// Verify the raw bytes: a parsed and re-serialized body has another signature.
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, bodyBytesMax))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !r.isSigned(request.Header, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var received event
	if json.Unmarshal(body, &received) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// The same event can arrive twice, after a retry or a replay. Its id stays the same.
	if r.isNew(received.ID) {
		fmt.Println(received.Type, received.ID) // Hand slow work to a queue: respond first.
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(secret) == 0 {
		log.Fatal("Set WEBHOOK_SECRET to the signing secret of the endpoint (whsec_...).")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	mux := http.NewServeMux()
	mux.Handle("/webhooks", &receiver{secret: secret})
	server := &http.Server{
		Addr:              "127.0.0.1:" + port,
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}
