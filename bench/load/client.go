package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/bench"
)

// requests returns n signed deliveries in the format of HTTP/1.1. All events in them differ.
func requests(p bench.Payload, n int) ([][]byte, error) {
	row, err := ourRow()
	if err != nil {
		return nil, err
	}
	texts := make([][]byte, n)
	for i, d := range bench.NewSender(row, p).Send(n) {
		var b bytes.Buffer
		fmt.Fprintf(&b, "POST /webhook HTTP/1.1\r\nHost: receiver.example.com\r\nContent-Length: %d\r\n", len(d.Body))
		if err := d.Header.Write(&b); err != nil {
			return nil, err
		}
		b.WriteString("\r\n")
		b.Write(d.Body)
		texts[i] = b.Bytes()
	}
	return texts, nil
}

// ourRow returns a row that signs as the service does.
func ourRow() (bench.Row, error) {
	for _, row := range bench.Rows() {
		if row.Ours {
			return row, nil
		}
	}
	return bench.Row{}, fmt.Errorf("no row of ours")
}

// send sends all requests over a few open connections and returns how long that took. Any status but 200 is an error. It writes
// prepared bytes, because a full HTTP client would use more CPU time than the receiver.
func send(ctx context.Context, address string, requests [][]byte, connections int) (time.Duration, error) {
	conns, err := connect(ctx, address, connections)
	if err != nil {
		return 0, err
	}
	defer closeAll(conns)
	stopWaiting := context.AfterFunc(ctx, func() {
		for _, c := range conns {
			c.SetDeadline(time.Unix(1, 0))
		}
	})
	defer stopWaiting()
	var next atomic.Int64
	var wg sync.WaitGroup
	failures := make([]error, len(conns))
	start := time.Now()
	for n, conn := range conns {
		wg.Go(func() {
			answers := bufio.NewReader(conn)
			for i := next.Add(1) - 1; i < int64(len(requests)) && failures[n] == nil; i = next.Add(1) - 1 {
				failures[n] = exchange(conn, answers, requests[i])
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	return took, cmp.Or(ctx.Err(), errors.Join(failures...))
}

func connect(ctx context.Context, address string, n int) ([]net.Conn, error) {
	var conns []net.Conn
	for range n {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

func exchange(conn net.Conn, answers *bufio.Reader, request []byte) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return nil
}
