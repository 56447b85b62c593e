package call_test

import (
	"encoding/binary"
	"io"
	"net"
)

// HTTP/2 frame types, flags and error codes, RFC 9113 sections 6 and 7.
const (
	frameData, frameHeaders, frameReset, frameSettings, framePing, frameGoAway = 0, 1, 3, 4, 6, 7

	flagAck, flagEndStream, flagEndHeaders = 1, 1, 4

	codeProtocolError, codeInternalError, codeRefusedStream, codeCancel = 1, 2, 7, 8
)

// http2Service reads requests from an HTTP/2 connection frame by frame, so that it can break off a stream at any frame and
// with any code, which net/http's server does not offer. It decodes no header fields: a stream is a request.
type http2Service struct {
	// head is called for each request whose head was read, and end when all of it was.
	head, end func(c *http2Conn, stream uint32)
}

// http2Conn writes from a goroutine of its own: the client's writes must be read meanwhile.
type http2Conn struct {
	net.Conn
	frames chan []byte
}

// serve speaks HTTP/2 on a connection until it ends.
func (s *http2Service) serve(conn net.Conn) {
	c := &http2Conn{conn, make(chan []byte, 1000)}
	defer close(c.frames)
	go c.writeFrames()
	c.frame(frameSettings, 0, 0, nil)
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	for s.readFrame(c) == nil {
	}
}

func (s *http2Service) readFrame(c *http2Conn) error {
	head := make([]byte, 9)
	if _, err := io.ReadFull(c, head); err != nil {
		return err
	}
	kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
	payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(c, payload); err != nil {
		return err
	}
	switch {
	case kind == frameSettings && flags&flagAck == 0:
		c.frame(frameSettings, flagAck, 0, nil)
	case kind == framePing && flags&flagAck == 0:
		c.frame(framePing, flagAck, 0, payload)
	case kind == frameHeaders:
		s.head(c, stream)
	}
	if (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0 {
		s.end(c, stream)
	}
	return nil
}

func (c *http2Conn) frame(kind, flags byte, stream uint32, payload []byte) {
	f := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	f = binary.BigEndian.AppendUint32(f, stream)
	c.frames <- append(f, payload...)
}

// writeFrames ends when there are no more frames; an empty one closes the connection.
func (c *http2Conn) writeFrames() {
	for f := range c.frames {
		if len(f) == 0 {
			_ = c.Close()
			continue
		}
		_, _ = c.Write(f)
	}
}

// answer sends a 200; 0x88 is its status in the static table of HPACK.
func (c *http2Conn) answer(stream uint32, body string) {
	c.frame(frameHeaders, flagEndHeaders, stream, []byte{0x88})
	c.frame(frameData, flagEndStream, stream, []byte(body))
}

func (c *http2Conn) reset(stream uint32, code uint32) {
	c.frame(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

// goAway says that no stream above the last one was or will be processed.
func (c *http2Conn) goAway(last, code uint32) {
	c.frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
}

func (c *http2Conn) hangUp() { c.frames <- nil }
