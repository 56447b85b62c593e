package endtoend_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// apiClient posts to a program that may be killed at any time.
type apiClient struct {
	*sandbox
	http *http.Client
}

// post returns the status, or 0 without a complete answer.
func (c *apiClient) post(path string, body, out any) (status int) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // our own types
	}
	request, err := http.NewRequest(http.MethodPost, c.BaseURL+path, bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	request.Header.Set("x-api-key", c.APIKey)
	request.Header.Set("workspaceid", c.WorkspaceID)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0
	}
	if out != nil && answer.StatusCode < 300 && json.Unmarshal(content, out) != nil {
		return 0
	}
	return answer.StatusCode
}
