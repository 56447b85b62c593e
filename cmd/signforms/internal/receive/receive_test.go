package receive

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// A body that does not arrive in time is not one that is too large.
func TestBodyThatIsLate(t *testing.T) {
	var stderr strings.Builder
	r := receiver{stderr: &stderr}
	w := httptest.NewRecorder()
	body := io.MultiReader(strings.NewReader("[{"), iotest.ErrReader(os.ErrDeadlineExceeded))
	r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hook", body))
	require.Equal(t, http.StatusRequestTimeout, w.Code)
	require.JSONEq(t, `{"status":"body incomplete"}`, w.Body.String())
	require.Contains(t, stderr.String(), " refused POST /hook: the body did not arrive within 20s\n")
}
