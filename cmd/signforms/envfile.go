package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
)

// envLines are the variables that the SDK's examples and the commands of this program read, for a shell, Docker and CI.
func envLines(c control.Credentials) string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"SIGNFORMS_BASE_URL", c.BaseURL}, {"SIGNFORMS_API_KEY", c.APIKey}, {"SIGNFORMS_WORKSPACE_ID", c.WorkspaceID},
		{"SIGNFORMS_WEBHOOK_SECRETS", c.WebhookSecret},
	} {
		fmt.Fprintf(&b, "%s=%s\n", line[0], line[1])
	}
	return b.String()
}

// writeEnvFile writes the variables to a file that only the owner can read. The file is there whole or not at all: a script
// may wait for it.
func writeEnvFile(name string, c control.Credentials) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".signforms-env-*") // has mode 0600
	if err != nil {
		return fmt.Errorf("--env-file: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("--env-file: %w", err)
		}
	}()
	_, err = f.WriteString(envLines(c))
	if bad := f.Close(); err == nil {
		err = bad
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
