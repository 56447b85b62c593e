package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/google/go-github/v92/github"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/signforms/signforms-go"
	"github.com/stripe/stripe-go/v85"
)

// A ClientRow is a client of a service that gets one record and a page of 100. Beside it is the same by hand: with net/http,
// io.ReadAll and encoding/json into the client's own types, or for our client into structs with the same fields.
type ClientRow struct {
	Name      string
	Ours      bool
	One, List Calls
}

// Calls holds a call of a client and the same call by hand.
type Calls struct{ Client, Hand func(context.Context) error }

// Records of the other services, each about as large as a document.
const (
	githubIssue = `{"id":4217000001,"node_id":"I_kwDOABCD5M6abcde","number":%d,"state":"open","title":"Supply agreement 2026/11","body":"The second signer has not looked yet.","url":"https://api.github.com/repos/o/r/issues/1","html_url":"https://github.com/o/r/issues/1","comments":3,"locked":false,"user":{"login":"olga","id":1001,"type":"User","site_admin":false},"labels":[{"id":1,"name":"legal","color":"f29513","default":false},{"id":2,"name":"signing","color":"a2eeef","default":false}],"created_at":"2026-11-19T18:13:19Z","updated_at":"2026-11-19T18:13:19Z"}`

	stripeCustomer = `{"id":"cus_%d","object":"customer","balance":0,"created":1763575999,"currency":"eur","delinquent":false,"description":"Supply agreement 2026/11","email":"ann.keller@example.com","invoice_prefix":"0759376C","livemode":false,"name":"Ann Keller","metadata":{"document":"035042b2-8bac-41fc-82c3-3e742391a889","folder":"legal"},"next_invoice_sequence":1,"phone":"+490000000","preferred_locales":["en","de"],"tax_exempt":"none","address":{"city":"Berlin","country":"DE","line1":"Street 1","postal_code":"10115"}}`

	hetznerKey = `{"id":%d,"name":"Supply agreement 2026/11","fingerprint":"b7:2f:30:a0:2f:6c:58:6c:21:04:58:61:ba:06:3b:2f","public_key":"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ann.keller@example.com","labels":{"team":"legal","stage":"signing","owner":"olga"},"created":"2026-11-19T18:13:19Z"}`
)

// hundred returns 100 records, numbered from 1.
func hundred(record string) string {
	records := make([]string, pageSize)
	for i := range records {
		records[i] = fmt.Sprintf(record, i+1)
	}
	return strings.Join(records, ",")
}

// ClientRows starts a server for all services on loopback and returns the rows. stop ends the server.
func ClientRows() (rows []ClientRow, stop func(), err error) {
	var documents []json.RawMessage
	if err := json.Unmarshal(documentsJSON, &documents); err != nil {
		return nil, nil, err
	}
	const documentsPage = `{"message":"Documents fetched successfully","documents":[%s],"documentsCount":%d,"formCount":0,"pagination":{"currentPage":1,"totalPages":1,"totalDocuments":%d}}`
	mux := http.NewServeMux()
	serve := func(path string, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = io.WriteString(w, body)
		})
	}
	list := strings.TrimSuffix(strings.TrimPrefix(string(documentsJSON), "["), "]")
	serve("/one/get-documents", fmt.Sprintf(documentsPage, documents[0], 1, 1))
	serve("/list/get-documents", fmt.Sprintf(documentsPage, list, pageSize, pageSize))
	serve("/github/repos/o/r/issues/1", fmt.Sprintf(githubIssue, 1))
	serve("/github/repos/o/r/issues", "["+hundred(githubIssue)+"]")
	serve("/v1/customers/cus_1", fmt.Sprintf(stripeCustomer, 1))
	serve("/v1/customers", `{"object":"list","url":"/v1/customers","has_more":false,"data":[`+hundred(stripeCustomer)+`]}`)
	serve("/hetzner/ssh_keys/1", `{"ssh_key":`+fmt.Sprintf(hetznerKey, 1)+`}`)
	serve("/hetzner/ssh_keys", `{"ssh_keys":[`+hundred(hetznerKey)+`],"meta":{"pagination":{"page":1,"per_page":100,"last_page":1,"total_entries":100}}}`)
	server := httptest.NewServer(mux)
	for _, row := range []func(string) (ClientRow, error){signformsClient, githubClient, hetznerClient, stripeClient} {
		r, err := row(server.URL)
		if err != nil {
			server.Close()
			return nil, nil, err
		}
		rows = append(rows, r)
	}
	return rows, func() { http.DefaultClient.CloseIdleConnections(); server.Close() }, nil
}

func signformsClient(url string) (ClientRow, error) {
	one, err := signforms.New(url+"/one", APIKey, nil)
	if err != nil {
		return ClientRow{}, err
	}
	list, err := signforms.New(url+"/list", APIKey, nil)
	if err != nil {
		return ClientRow{}, err
	}
	const id = "035042b2-8bac-41fc-82c3-3e742391a889" // the first document in payloads/documents.json
	return ClientRow{Name: "signforms", Ours: true,
		One: Calls{
			func(ctx context.Context) error { _, err := one.Documents.Get(ctx, id); return err },
			byHand(url+"/one/get-documents?documentType=PDF&documentId="+id, func(p handPage) int { return len(p.Documents) }, 1),
		},
		List: Calls{
			func(ctx context.Context) error {
				page, err := list.Documents.List(ctx, signforms.DocumentListParams{Limit: pageSize})
				return enough(err, func() int { return len(page.Items) }, pageSize)
			},
			byHand(url+"/list/get-documents?documentType=PDF&limit=100", func(p handPage) int { return len(p.Documents) }, pageSize),
		},
	}, nil
}

func githubClient(url string) (ClientRow, error) {
	base := url + "/github/"
	client, err := github.NewClient(github.WithURLs(&base, &base), github.WithAuthToken(APIKey))
	if err != nil {
		return ClientRow{}, err
	}
	return ClientRow{Name: "go-github",
		One: Calls{
			func(ctx context.Context) error { _, _, err := client.Issues.Get(ctx, "o", "r", 1); return err },
			byHand(base+"repos/o/r/issues/1", func(i github.Issue) int { return i.GetNumber() }, 1),
		},
		List: Calls{
			func(ctx context.Context) error {
				issues, _, err := client.Issues.ListByRepo(ctx, "o", "r", &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: pageSize}})
				return enough(err, func() int { return len(issues) }, pageSize)
			},
			byHand(base+"repos/o/r/issues?per_page=100", func(i []*github.Issue) int { return len(i) }, pageSize),
		},
	}, nil
}

func hetznerClient(url string) (ClientRow, error) {
	base := url + "/hetzner"
	client := hcloud.NewClient(hcloud.WithEndpoint(base), hcloud.WithToken(APIKey))
	return ClientRow{Name: "hcloud-go",
		One: Calls{
			func(ctx context.Context) error { _, _, err := client.SSHKey.GetByID(ctx, 1); return err },
			byHand(base+"/ssh_keys/1", func(r schema.SSHKeyGetResponse) int { return int(r.SSHKey.ID) }, 1),
		},
		List: Calls{
			func(ctx context.Context) error {
				keys, _, err := client.SSHKey.List(ctx, hcloud.SSHKeyListOpts{ListOpts: hcloud.ListOpts{PerPage: pageSize}})
				return enough(err, func() int { return len(keys) }, pageSize)
			},
			byHand(base+"/ssh_keys?per_page=100", func(r schema.SSHKeyListResponse) int { return len(r.SSHKeys) }, pageSize),
		},
	}, nil
}

func stripeClient(url string) (ClientRow, error) {
	client := stripe.NewClient(APIKey, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: &url, EnableTelemetry: new(false), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
	type customers struct {
		Data []*stripe.Customer `json:"data"`
	}
	return ClientRow{Name: "stripe-go",
		One: Calls{
			func(ctx context.Context) error { _, err := client.V1Customers.Retrieve(ctx, "cus_1", nil); return err },
			byHand(url+"/v1/customers/cus_1", func(c stripe.Customer) int { return len(c.ID) }, len("cus_1")),
		},
		List: Calls{
			func(ctx context.Context) error {
				params := &stripe.CustomerListParams{}
				params.Limit = new(int64(pageSize))
				n := 0
				for _, err := range client.V1Customers.List(ctx, params).All(ctx) {
					if err != nil {
						return err
					}
					n++
				}
				return enough(nil, func() int { return n }, pageSize)
			},
			byHand(url+"/v1/customers?limit=100", func(c customers) int { return len(c.Data) }, pageSize),
		},
	}, nil
}

// byHand returns a function that gets an answer without a client, and checks the number of records in it.
func byHand[T any](url string, count func(T) int, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Accept", "application/json")
		req.Header.Set("X-Api-Key", APIKey)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		var answer T
		if err := json.Unmarshal(body, &answer); err != nil {
			return err
		}
		return enough(nil, func() int { return count(answer) }, want)
	}
}

func enough(err error, got func() int, want int) error {
	if err == nil && got() != want {
		err = fmt.Errorf("got %d, want %d", got(), want)
	}
	return err
}
