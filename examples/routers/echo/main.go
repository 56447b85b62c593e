// Echo receives the service's webhooks behind the router echo. Any router that accepts an http.Handler works the same way, such as
// gin with gin.WrapH(handler).
//
//	go run ./echo
//	SIGNFORMS_WEBHOOK_SECRET=whsec_… go run ./echo
//
// Without a secret it starts an embedded service that delivers to both routes, and ends.
//
// Register the handler for POST. No middleware before it may read the body, because the signature covers the body as it was sent.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signforms/signforms-go/webhook"
)

func main() {
	secret := os.Getenv("SIGNFORMS_WEBHOOK_SECRET")
	if secret == "" {
		if err := runDemo(context.Background()); err != nil {
			log.Fatal(err)
		}
		return
	}
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: newRouter(verifier), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second}
	fmt.Println("receiving at http://" + server.Addr + "/webhook")
	log.Fatal(server.ListenAndServe())
}

// newRouter returns a router with two routes, of which one is enough: a Handler that does everything, and a handler of your own
// behind the middleware, without protection against repeats.
func newRouter(verifier *webhook.Verifier) *echo.Echo {
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		TemplateSigned: func(_ context.Context, ev *webhook.TemplateSigned) error {
			fmt.Println(ev.SignedBy.RoleTitle, "signed", ev.DocumentName)
			return nil
		},
	}, nil)
	e := echo.New()
	e.POST("/webhook", echo.WrapHandler(handler))
	e.POST("/own", own, echo.WrapMiddleware(verifier.Middleware(nil)))
	return e
}

// own is a handler of your own. It gets only genuine deliveries.
func own(c echo.Context) error {
	events, err := webhook.EventsFrom(c.Request().Context())
	if err != nil {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	return c.JSON(http.StatusOK, map[string]int{"events": len(events)})
}
