package guard

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
)

// loginCookie is the cookie that proves the token to the console. Browsers do not send bearer tokens by themselves.
const loginCookie = "signforms_sandbox"

// loginPath is the page on which a user enters the token.
const loginPath = "/_/login"

// loginPage returns the page that asks for the token.
func loginPage(notice string) string {
	return look.PlainPage(notice + `
<form method="post" class="sheet">
<div class="field"><label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" autofocus required>
<p class="soft">The one that the sandbox was started with, as <code>--token</code> or in its environment.</p></div>
<button class="main">Open the console</button>
</form>`)
}

// loginFor returns the URL of the login page that leads to the page of r. A form that was sent is
// not sent again; its URL leads to its page.
func loginFor(r *http.Request) string {
	next := url.Values{"next": {r.URL.RequestURI()}}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		next.Set("form", "lost")
	}
	return loginPath + "?" + next.Encode()
}

// lostForm is the notice on the login page after a form was sent without a login. It is for pages
// without JavaScript, because the script of the console sends forms in the background.
const lostForm = `<p class="notice bad" role="alert">Nothing was done: you are no longer logged in. The form is not kept here. Log in in another tab, then go
back to the form in this one: the browser may still have what you entered, except for files.</p>`

// afterLogin returns the page to show after the login: next, if it is a page of this console, or else the first page.
func afterLogin(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path.Clean(u.Path), "/_/") || u.Path == loginPath {
		return "/_/"
	}
	return u.RequestURI()
}

// login shows the form for the token. For a POST with the right token, it sets the cookie and
// redirects to the requested page.
func (c tokenCheck) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	wrong, notice := false, ""
	if r.URL.Query().Get("form") == "lost" {
		notice = lostForm
	}
	if r.Method == http.MethodPost {
		if c.is(r.PostFormValue("token")) {
			http.SetCookie(w, &http.Cookie{
				Name: loginCookie, Value: c.cookie(), Path: "/_/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
				Secure: r.Header.Get("X-Forwarded-Proto") == "https",
			})
			http.Redirect(w, r, afterLogin(r.URL.Query().Get("next")), http.StatusSeeOther)
			return
		}
		wrong, notice = true, notice+`<p class="notice bad" role="alert">That is not the token.</p>`
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	look.Secure(w.Header(), nil)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src '"+look.StyleHash+"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	if wrong {
		w.WriteHeader(http.StatusUnauthorized)
	}
	w.Write([]byte(loginPage(notice)))
}
