package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"reflect"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/guard"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/hosting"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// stopWithin is how long serve waits for running requests and webhook attempts when it stops. After
// endWithin, serve ends in any case, as if it were killed. docker stop kills a container after 10
// seconds.
const (
	stopWithin = 5 * time.Second
	endWithin  = 7 * time.Second
)

// memory is shown in place of the data file with --memory.
const memory = "memory"

// run serves until ctx ends.
func (f *serveFlags) run(ctx context.Context, cmd *cobra.Command) (err error) {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	o.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	seed, err := f.readSeed()
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // most of the memory is records that stay; with Go's default of 100, there would be as much garbage
	}
	ending := time.AfterFunc(time.Hour, func() {
		fmt.Fprintln(cmd.ErrOrStderr(), "signforms: the data file could not be closed in time; no acknowledged change is lost")
		os.Exit(cli.ExitFailure)
	})
	ending.Stop()
	defer ending.Stop()
	store, err := f.store(ctx)
	if err != nil {
		return err
	}
	data := memory
	if store != nil {
		data = store.Path()
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	if f.denyPrivate {
		o.DialWebhook = guard.DialPublic
	}
	all, err := hosting.New(ctx, hosting.Config{
		Service: *o, Seed: seed.Seed, Store: store, Files: f.storeOptions(), Data: data, Version: f.version, Guard: guard.New(f.guard()),
		Frames: f.frameAncestors, PlainPDFs: f.plainPDFs, Profile: f.profile, Endpoints: f.endpoints,
	})
	if err != nil {
		return startError(err, f.addr, data)
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	if err := all.Start(ctx); err != nil {
		return startError(err, f.addr, data)
	}
	if err := f.applySeed(ctx, all.First(), seed); err != nil {
		return err
	}
	all.Open()
	if err := f.tellReady(cmd.OutOrStdout(), cmd.ErrOrStderr(), all.First()); err != nil {
		return err
	}
	if store != nil {
		debug.FreeOSMemory() // loading a large state leaves more garbage than its own size
	}
	<-ctx.Done()
	fmt.Fprintln(cmd.ErrOrStderr(), "stopping")
	ending.Reset(endWithin)
	within, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if err := all.Shutdown(within); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// startError returns the text for users in place of an error of the start.
func startError(err error, addr, data string) error {
	if full := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE); full && !errors.Is(err, sqlitestore.ErrLimit) {
		return fmt.Errorf("%w: raise the limit of open files (ulimit -n)", err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "listen" {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --addr or $%sADDR, as in 127.0.0.1:0 for a free port", addr, e.Err, sandbox.Env)
	}
	if e, ok := errors.AsType[*refserver.InvalidError](err); ok {
		return cli.UsageError("%s: %s", fieldname.Words(e.Field, optionFlags), e.Problem)
	}
	for _, advised := range []error{sqlitestore.ErrDamaged, sqlitestore.ErrFull, sqlitestore.ErrLimit, sqlitestore.ErrInUse, sqlitestore.ErrAccess, hosting.ErrMisplaced} {
		if errors.Is(err, advised) || data == memory {
			return err
		}
	}
	start := "to start empty"
	if e, ok := errors.AsType[*hosting.FileError](err); ok {
		data, start = e.Path, "to start without the workspace"
	}
	return fmt.Errorf("%w; the data file %s is unchanged. If it is damaged, move it away %s, together with its -wal and -shm, or replace all three with a backup", err, data, start)
}

// optionFlags maps options of the server to flags, and to the settings of --profile.
var optionFlags = func() map[string]string {
	names := map[string]string{
		"Options.APIKey": "--api-key", "Options.WorkspaceID": "--workspace-id", "Options.WebhookSecret": "--webhook-secret",
		"Options.PublicURL": "--public-url", "Options.Addr": "--addr",
	}
	for field := range reflect.TypeFor[refserver.Profile]().Fields() {
		names["Options.Profile."+field.Name] = "--profile " + kebab(field.Name)
	}
	return names
}()
