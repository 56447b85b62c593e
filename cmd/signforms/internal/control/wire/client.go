package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// KeepAlive is how often a stream without events sends a comment. Proxies close streams that are
// silent for a minute.
const KeepAlive = 20 * time.Second

// MaxBody is the maximum size of a request body, in bytes. It has room for a PDF of 20 MB in
// base64.
const MaxBody = 32 << 20

// Client calls the control interface of a running sandbox. It is safe for concurrent use.
type Client struct {
	base   string
	shown  string // the base URL without its password
	prefix string // prefix of the paths
	token  string
	http   *http.Client
}

// callTimeout is the time limit of a call. An advance of the clock takes longest, because it waits
// for receivers of webhooks.
const callTimeout = 11 * time.Minute

// NewClient returns a client of the first workspace of the sandbox at a URL such as http://127.0.0.1:4874. The token
// may be empty.
func NewClient(base, token string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is not a URL of a sandbox: write it as in http://127.0.0.1:4874", base)
	}
	if before, after, inside := strings.Cut(u.Path, "/_/"); inside {
		u.Path = before
		if name, found := strings.CutPrefix(after, "w/"); found {
			name, _, _ = strings.Cut(name, "/")
			return nil, fmt.Errorf("it has the address of a workspace: give %s, and name the workspace with --workspace %s", u.Redacted(), name)
		}
		return nil, fmt.Errorf("it has the address of the control API: give %s", u.Redacted())
	}
	shown := strings.TrimRight(u.Redacted(), "/")
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		shown += " (through the proxy " + proxy.Redacted() + ")"
	}
	return &Client{base: strings.TrimRight(base, "/"), shown: shown, prefix: Prefix, token: token, http: &http.Client{
		Timeout:       callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// In returns a client of the workspace with the id or name.
func (c *Client) In(workspace string) *Client {
	in := *c
	in.prefix = WorkspacePrefix + url.PathEscape(workspace) + strings.TrimPrefix(Prefix, "/_")
	return &in
}

// ErrNoSandbox means that no server responds at the sandbox's address, or that another server
// responds there.
var ErrNoSandbox = errors.New("no sandbox")

// elsewhere is an error that matches ErrNoSandbox.
type elsewhere struct{ error }

func (e elsewhere) Is(target error) bool { return target == ErrNoSandbox }
func (e elsewhere) Unwrap() error        { return e.error }

// silent returns the error for a sandbox that does not respond, or ctx's error if ctx has ended.
func (c *Client) silent(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return elsewhere{fmt.Errorf("no sandbox responds at %s: %w", c.shown, cause(err))}
}

// Get calls a path below [Prefix] and decodes the response into out.
func (c *Client) Get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(ctx, http.MethodGet, path, nil, out)
}

// All returns every record of a list below [Prefix], page by page. If a record is added or removed
// meanwhile, a record may be returned twice or be missing.
func All[T any](ctx context.Context, c *Client, path string) (all []T, err error) {
	for offset := 0; ; {
		var page Page[T]
		if err := c.Get(ctx, path, url.Values{"limit": {strconv.Itoa(MaxLimit)}, "offset": {strconv.Itoa(offset)}}, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.Next <= offset {
			return all, nil
		}
		offset = page.Next
	}
}

// Post sends in as JSON, unless it is nil, and decodes the response into out, unless out is nil.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	return c.do(ctx, http.MethodPost, path, in, out)
}

// Delete deletes the resource at the path.
func (c *Client) Delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path, nil, nil)
}

// Stream reads a stream of events and calls each with the data of every event. It calls began when
// the sandbox responds. It ends when each returns an error, when ctx ends, or when nothing arrived
// for a minute. A sandbox without events sends a comment every 20 seconds.
func (c *Client) Stream(ctx context.Context, path string, began func(), each func(data []byte) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(3*KeepAlive, func() { cancel(errSilent) })
	defer silent.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+c.prefix+path, nil)
	if err != nil {
		return err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := (&http.Client{CheckRedirect: c.http.CheckRedirect}).Do(request)
	if err != nil {
		return c.silent(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // an incomplete body fails to decode below
		return c.read(answer, text, nil)
	}
	began()
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := readLine(lines)
		silent.Reset(3 * KeepAlive)
		if err != nil {
			return fmt.Errorf("the stream of %s broke off: %w", c.shown, errors.Join(context.Cause(ctx), err))
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			if err := each(data); err != nil {
				return err
			}
		}
	}
}

var errSilent = errors.New("nothing arrived for a minute")

// readLine reads a line of at most about 2*MaxBody bytes, which is an event with a body of MaxBody
// bytes in base64.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		case len(line) > 2*MaxBody:
			return nil, errors.New("a line is too long")
		}
	}
}

// maxAnswer is the maximum size of a response, in bytes. The largest response is a page of
// deliveries with many attempts.
const maxAnswer = 256 << 20

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	body := io.Reader(http.NoBody)
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+c.prefix+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return c.silent(ctx, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", c.shown, err)
	}
	return c.read(answer, text, out)
}

// cause returns the cause of an error without its URL, because the caller adds the URL.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func (c *Client) read(answer *http.Response, text []byte, out any) error {
	if answer.StatusCode >= 200 && answer.StatusCode <= 299 {
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(text, out); err != nil {
			return elsewhere{fmt.Errorf("the server at %s is not a sandbox: %w", c.shown, err)}
		}
		return nil
	}
	var failed ErrorBody
	if json.Unmarshal(text, &failed) != nil || failed.Error == nil {
		return elsewhere{fmt.Errorf("the server at %s, which responds with status %d, is not a sandbox of this program", c.shown, answer.StatusCode)}
	}
	failed.Error.Status = answer.StatusCode
	return failed.Error
}
