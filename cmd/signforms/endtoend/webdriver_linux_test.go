package endtoend_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tab drives a browser by the commands of WebDriver, which Firefox and WebKit have in common. Each command acts on the
// current tab, page or frame.
type tab struct {
	t    testing.TB
	call func(command string, params, out any) error
	// errors returns the script errors and the violations of the Content-Security-Policy so far.
	errors func() []string
}

type object = map[string]any

// waitLimit bounds each wait. It is long because a machine under load may be slow.
const waitLimit = 2 * time.Minute

// await waits until something is there, and otherwise fails and calls failed.
func await(t testing.TB, what string, there func() bool, failed ...func()) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, f := range failed {
				f()
			}
			require.FailNow(t, "it never came to this", what)
		}
	}
}

// process starts a program that is killed when the test ends, with those that it has started.
func process(t testing.TB, output io.Writer, environment []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr, c.Env = output, output, append(os.Environ(), environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // fails if it has ended already
		c.Wait()
	})
}

// firefox starts Firefox, which is driven by its own protocol, Marionette: commands and responses are JSON arrays, each
// after its length.
func firefox(t testing.TB) *tab {
	t.Helper()
	profile := t.TempDir()
	settings := `user_pref("marionette.port", 0); user_pref("browser.tabs.unloadOnLowMemory", false);`
	require.NoError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(settings), 0o600))
	process(t, io.Discard, nil, "firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", profile)
	var port []byte
	await(t, "Firefox listens", func() bool {
		port, _ = os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		return len(port) > 0
	})
	conn, err := net.Dial("tcp", "127.0.0.1:"+string(port))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	from, number := bufio.NewReader(conn), 0
	read := func() (message []json.RawMessage, err error) {
		length, err := from.ReadString(':')
		if err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
		if err != nil {
			return nil, err
		}
		text := make([]byte, n)
		if _, err = io.ReadFull(from, text); err == nil && text[0] == '[' {
			err = json.Unmarshal(text, &message)
		}
		return message, err
	}
	_, err = read() // its greeting
	require.NoError(t, err)
	b := &tab{t: t}
	b.call = func(command string, params, out any) error {
		number++
		text, err := json.Marshal([]any{0, number, command, params})
		if err == nil {
			_, err = fmt.Fprintf(conn, "%d:%s", len(text), text)
		}
		require.NoError(t, err)
		message, err := read()
		require.NoError(t, err)
		if string(message[2]) != "null" {
			return errors.New(string(message[2]))
		}
		if out == nil {
			return nil
		}
		var wrapped struct{ Value json.RawMessage }
		if json.Unmarshal(message[3], &wrapped) == nil && wrapped.Value != nil {
			return json.Unmarshal(wrapped.Value, out)
		}
		return json.Unmarshal(message[3], out)
	}
	require.NoError(t, b.call("WebDriver:NewSession", object{}, nil))
	b.errors = func() (all []string) {
		b.inFirefox(`return Services.console.getMessageArray()
			.filter((e) => e instanceof Ci.nsIScriptError && /^https?:/.test(e.sourceName) && (!(e.flags & 1) || e.category.includes("CSP")))
			.map(String)`, &all)
		return all
	}
	return b
}

// inFirefox runs a script in the browser itself, where it sees its settings and its console.
func (b *tab) inFirefox(script string, out any) {
	b.t.Helper()
	require.NoError(b.t, b.call("Marionette:SetContext", object{"value": "chrome"}, nil))
	err := b.call("WebDriver:ExecuteScript", object{"script": script, "args": []any{}, "sandbox": "system"}, out)
	require.NoError(b.t, err)
	require.NoError(b.t, b.call("Marionette:SetContext", object{"value": "content"}, nil))
}

// webkit starts MiniBrowser, WebKitGTK's own browser, on a screen that nobody sees, with so many pixels for each of CSS. A
// second one does not start before the first has ended.
func webkit(t testing.TB, scale int) *tab {
	t.Helper()
	folder := t.TempDir()
	programs, err := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	require.NoError(t, err)
	require.NotEmpty(t, programs, "install the packages webkit2gtk-driver and xvfb")
	display, err := os.Create(filepath.Join(folder, "display"))
	require.NoError(t, err)
	process(t, display, nil, "Xvfb", "-displayfd", "1", "-screen", "0", "4000x3000x24", "-nolisten", "tcp")
	var number []byte
	await(t, "Xvfb has a display", func() bool {
		number, _ = os.ReadFile(display.Name())
		return bytes.HasSuffix(number, []byte("\n"))
	})
	// The driver would throw away what the browser prints.
	log, wrapper := filepath.Join(folder, "log"), filepath.Join(folder, "browser")
	require.NoError(t, os.WriteFile(wrapper, fmt.Appendf(nil, "#!/bin/sh\nexec %s \"$@\" >>%s 2>&1\n", programs[0], log), 0o700))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	base := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	environment := []string{"DISPLAY=:" + strings.TrimSpace(string(number)), "GDK_SCALE=" + fmt.Sprint(scale), "LIBGL_ALWAYS_SOFTWARE=1", "HOME=" + folder}
	if scale == 3 {
		environment = append(environment, "GTK_THEME=Adwaita:dark")
	}
	process(t, io.Discard, environment, "WebKitWebDriver", "--port="+base[strings.LastIndex(base, ":")+1:])
	b := &tab{t: t}
	b.call = func(command string, params, out any) error { return callHTTP(base, command, params, out) }
	var session struct{ SessionID string }
	options := object{"binary": wrapper, "args": []string{"--automation", "--enable-write-console-messages-to-stdout=true"}}
	await(t, "WebKitWebDriver listens", func() bool { return b.call("Status", object{}, nil) == nil })
	require.NoError(t, b.call("WebDriver:NewSession", object{"capabilities": object{"alwaysMatch": object{"webkitgtk:browserOptions": options}}}, &session))
	base += "/session/" + session.SessionID
	t.Cleanup(func() { b.call("WebDriver:DeleteSession", object{}, nil) })
	b.errors = func() (all []string) {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "ERROR") {
				all = append(all, line)
			}
		}
		return all
	}
	return b
}

// endpoints are where WebDriver has the commands by HTTP.
var endpoints = map[string]string{
	"Status": "GET /status", "WebDriver:NewSession": "POST /session", "WebDriver:DeleteSession": "DELETE ", "WebDriver:Navigate": "POST /url", "WebDriver:Back": "POST /back",
	"WebDriver:Refresh": "POST /refresh", "WebDriver:ExecuteScript": "POST /execute/sync", "WebDriver:PerformActions": "POST /actions",
	"WebDriver:NewWindow": "POST /window/new", "WebDriver:SwitchToWindow": "POST /window", "WebDriver:CloseWindow": "DELETE /window",
	"WebDriver:GetWindowHandle": "GET /window", "WebDriver:GetWindowHandles": "GET /window/handles", "WebDriver:SetWindowRect": "POST /window/rect", "WebDriver:SwitchToFrame": "POST /frame", "WebDriver:TakeScreenshot": "GET /screenshot",
}

func callHTTP(base, command string, params, out any) error {
	method, path, ok := strings.Cut(endpoints[command], " ")
	if !ok {
		return fmt.Errorf("no endpoint for %s", command)
	}
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	var body io.Reader
	if method == http.MethodPost {
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, base+path, body)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: waitLimit}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var wrapped struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&wrapped); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(string(wrapped.Value))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(wrapped.Value, out)
}

func (b *tab) do(command string, params any) {
	b.t.Helper()
	require.NoError(b.t, b.call("WebDriver:"+command, params, nil), command)
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.do("Navigate", object{"url": url})
}

// eval evaluates a JavaScript expression in the page, and waits for a promise.
func eval[T any](b *tab, expression string) (value T) {
	b.t.Helper()
	require.NoError(b.t, b.call("WebDriver:ExecuteScript", object{"script": "return " + expression, "args": []any{}}, &value), expression)
	return value
}

// wait waits until an expression is true, even if the page changes meanwhile.
func (b *tab) wait(expression string) {
	b.t.Helper()
	await(b.t, expression, func() (is bool) {
		b.call("WebDriver:ExecuteScript", object{"script": "return !!(" + expression + ")", "args": []any{}}, &is)
		return is
	}, func() {
		b.t.Log(eval[string](b, "location.href + ' ' + document.visibilityState + ': ' + document.body.innerText"))
	})
}

func (b *tab) waitText(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.body?.innerText.includes(%q)", text))
}

// act performs what one pointer or keyboard does.
func (b *tab) act(kind string, steps ...object) {
	b.t.Helper()
	source := object{"type": kind, "id": kind, "actions": steps}
	if kind == "pointer" {
		source["parameters"] = object{"pointerType": "mouse"}
	}
	b.do("PerformActions", object{"actions": []object{source}})
}

func to(x, y float64) object {
	return object{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}
}

func button(kind string) object { return object{"type": kind, "button": 0} }

// box returns left, top, width and height of an element in the window, once it stands still there.
func (b *tab) box(selector string) [4]float64 {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
	return eval[[4]float64](b, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "center", behavior: "instant" });
		const at = e.getBoundingClientRect(); return [at.left, at.top, at.width, at.height] })()`, selector))
}

// click clicks on the middle of an element, where nothing may cover it.
func (b *tab) click(selector string) {
	b.t.Helper()
	at := b.box(selector)
	x, y := at[0]+at[2]/2, at[1]+at[3]/2
	require.True(b.t, eval[bool](b, fmt.Sprintf("(document.elementFromPoint(%f, %f)?.closest(%q) ?? null) !== null", x, y, selector)), "something covers %s", selector)
	b.act("pointer", to(x, y), button("pointerDown"), button("pointerUp"))
}

// press presses keys. "\ue004" is the tabulator, "\ue007" the enter key.
func (b *tab) press(keys string) {
	b.t.Helper()
	var steps []object
	for _, key := range keys {
		steps = append(steps, object{"type": "keyDown", "value": string(key)}, object{"type": "keyUp", "value": string(key)})
	}
	b.act("key", steps...)
}

func (b *tab) withControl(key string) {
	b.t.Helper()
	const control = "\ue009"
	b.act("key", object{"type": "keyDown", "value": control}, object{"type": "keyDown", "value": key}, object{"type": "keyUp", "value": key}, object{"type": "keyUp", "value": control})
}

func (b *tab) enter(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.press(text)
}

// reach presses the tabulator until the focus is on an element.
func (b *tab) reach(selector string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		b.press("\ue004")
	}
	require.FailNow(b.t, "the keyboard does not reach "+selector)
}

// another opens an address in another tab, which is in the background, and returns its handle.
func (b *tab) another(address string) (handle string) {
	b.t.Helper()
	var opened struct{ Handle string }
	require.NoError(b.t, b.call("WebDriver:NewWindow", object{"type": "tab", "focus": false}, &opened))
	b.do("SwitchToWindow", object{"handle": opened.Handle, "focus": false})
	b.open(address)
	return opened.Handle
}

// shot writes a picture of the window into the folder that SIGNFORMS_SHOTS names, for people to look at.
func (b *tab) shot(name string) {
	b.t.Helper()
	folder := os.Getenv("SIGNFORMS_SHOTS")
	if folder == "" {
		return
	}
	var text string
	require.NoError(b.t, b.call("WebDriver:TakeScreenshot", object{"full": false}, &text))
	picture, err := base64.StdEncoding.DecodeString(text)
	require.NoError(b.t, err)
	file := strings.NewReplacer("/", "-", " ", "-").Replace(b.t.Name() + "-" + name + ".png")
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, file), picture, 0o600))
}
