package signpages_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Inputs have a maxlength. A longer text that is posted anyway is answered with a message.
func TestTextsThatAreTooLongAreRefused(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	signing, form := links["ann@example.com"], formLink(t, service)
	require.NoError(t, service.Signer(id, "ann@example.com").View())
	exchange := func(resp *http.Response, err error) (int, string) {
		t.Helper()
		require.NoError(t, err)
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(page)
	}
	_, page := exchange(service.HTTPClient().Get(signing))
	version := shownVersion.FindStringSubmatch(page)
	require.NotNil(t, version)
	text := func(n int) string { return strings.Repeat("é", n) }
	values := func(name, value string) url.Values {
		all := url.Values{"agree": {"true"}, "f0": {"Ann"}, "f2": {"Rome"}, "f4": {"true"}, "q0": {"Ann"}, "q2": {"green"}, "q4": {"true"}, "version": version[1:]}
		all.Set(name, value)
		return all
	}
	for _, c := range []struct {
		page, action, input string
		most                int
		says                string
	}{
		{signing, "/sign", "f0", refserver.MaxText, "Signature&#34; has"},
		{signing, "/sign", "f2", refserver.MaxText, "City&#34; has"},
		{signing, "/decline", "reason", refserver.MaxReason, "The reason has"},
		{form, "", "q0", refserver.MaxText, "The question &#34;Name?&#34; (field q1) is answered by a text that has"},
		{form, "", "q1", refserver.MaxText, "The question &#34;Tell us more&#34; (field q2) is answered by a text that has"},
		{form, "", "email", refserver.MaxName, "Your e-mail address has"},
	} {
		_, page := exchange(service.HTTPClient().Get(c.page))
		input := regexp.MustCompile(`<(input|textarea)[^>]* name="` + c.input + `"[^>]*>`).FindString(page)
		require.Contains(t, input, fmt.Sprintf(`maxlength="%d"`, c.most), c.input)
		status, page := exchange(service.HTTPClient().PostForm(c.page+c.action, values(c.input, text(c.most+1))))
		require.Equal(t, http.StatusUnprocessableEntity, status, c.input)
		require.Contains(t, page, fmt.Sprintf("%s %d characters, and may have %d at most: shorten it.</p>", c.says, c.most+1, c.most))
	}
	require.True(t, find(t, service, id).Signers[0].SignedAt.IsZero())

	// A browser sends two characters for the end of a line, and counts one.
	lines := strings.Repeat("\r\n", refserver.MaxText)
	status, _ := exchange(service.HTTPClient().PostForm(form, values("q1", lines)))
	require.Equal(t, http.StatusOK, status)
	f, _, ok := service.FormLink(path.Base(form))
	require.True(t, ok)
	require.Equal(t, lines, service.Responses(f.ID)[0].Answers[1].Answer)
}
