package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// dataFile is the file of the state by default, in the folder that the system has for data of the user's programs.
func dataFile() (file string, err error) {
	folder := os.Getenv("XDG_DATA_HOME")
	switch {
	case runtime.GOOS == "windows":
		folder = os.Getenv("LocalAppData")
	case runtime.GOOS == "darwin":
		folder = inHome("Library", "Application Support")
	case !filepath.IsAbs(folder): // the XDG specification: ignore it
		folder = inHome(".local", "share")
	}
	if folder == "" {
		return "", errors.New("the user has no folder for data: say with --data where the state is to be, or --memory")
	}
	return filepath.Join(folder, "signforms", "sandbox.db"), nil
}

// inHome is empty when the user has no home.
func inHome(parts ...string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(append([]string{home}, parts...)...)
}
