// Package target chooses the service that an example uses: a real one if the environment names it, otherwise one that
// is embedded in the process of the example.
package target

import (
	"errors"
	"fmt"
	"os"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// Service is the service that an example uses.
type Service struct {
	Client *signforms.Client
	// Embedded is nil for a real service. Examples check it before they use features of the
	// embedded service, such as signing as a receiver.
	Embedded *signformstest.Server
}

// Open returns the service at SIGNFORMS_BASE_URL, with the key in SIGNFORMS_API_KEY and, if it is set, the workspace in
// SIGNFORMS_WORKSPACE_ID. When neither URL nor key is set, it returns an embedded service. The caller closes it.
func Open() (*Service, error) {
	baseURL, apiKey := os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY")
	switch {
	case baseURL == "" && apiKey == "":
		srv, err := signformstest.Start(nil)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, "using an embedded service; set SIGNFORMS_BASE_URL and SIGNFORMS_API_KEY for a real one")
		return &Service{Client: srv.Client(), Embedded: srv}, nil
	case baseURL == "" || apiKey == "":
		return nil, errors.New("set both SIGNFORMS_BASE_URL and SIGNFORMS_API_KEY, or neither")
	}
	client, err := signforms.New(baseURL, apiKey, &signforms.Options{
		WorkspaceID: os.Getenv("SIGNFORMS_WORKSPACE_ID"),
		UserAgent:   "signforms-examples",
	})
	if err != nil {
		return nil, err
	}
	return &Service{Client: client}, nil
}

// Close closes the embedded service, if there is one.
func (s *Service) Close() {
	if s.Embedded != nil {
		s.Embedded.Close()
	}
}
