// Package seedfile reads YAML files with the initial records of a sandbox. Start with [Read].
package seedfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// File is the content of a seed file.
type File struct {
	Seed  *wire.Seed
	name  string
	lines map[string]int // line numbers by path, such as "templates[0]"
}

// maxSize is the maximum size of a seed file, and of each PDF that it names.
const maxSize = 32 << 20

// Read reads a seed file. Names of PDFs in it are relative to its folder. Errors begin with the file's name and the
// line.
func Read(name string) (*File, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the seed: %w", err)
	}
	f := &File{Seed: &wire.Seed{}, name: name, lines: map[string]int{}}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := documents.Decode(&root); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err) // the error of package yaml contains the line
	}
	if err := documents.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: only one YAML document is read", name)
	}
	d := decoder{file: f, folder: filepath.Dir(name)}
	if err := d.decode(root.Content[0], f.Seed); err != nil {
		return nil, err
	}
	return f, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(content) > maxSize {
		err = fmt.Errorf("%s has more than %d bytes", name, maxSize)
	}
	return content, err
}

// Explain adds the file's name and the line to an error of applying the seed.
func (f *File) Explain(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || f.lines[e.Path] == 0 {
		return err
	}
	return fmt.Errorf("%s:%d: %s: %w", f.name, f.lines[e.Path], e.Path, err)
}
