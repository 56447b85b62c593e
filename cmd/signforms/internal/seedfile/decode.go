package seedfile

import (
	"encoding"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills a seed from YAML. The yaml package could do this too, but its errors contain the
// names of Go types, and no line for types that decode themselves.
type decoder struct {
	file   *File
	folder string
}

func (d *decoder) decode(node *yaml.Node, out any) error {
	return d.value(node, reflect.ValueOf(out).Elem(), "")
}

func (d *decoder) failf(node *yaml.Node, path, format string, args ...any) error {
	if path != "" {
		path += ": "
	}
	return fmt.Errorf("%s:%d: %s%s", d.file.name, node.Line, path, fmt.Sprintf(format, args...))
}

var bytesType = reflect.TypeFor[[]byte]()

func (d *decoder) value(node *yaml.Node, out reflect.Value, path string) error {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch out.Kind() {
	case reflect.Struct:
		return d.mapping(node, out, path)
	case reflect.Slice:
		if out.Type() == bytesType {
			return d.content(node, out, path)
		}
		return d.sequence(node, out, path)
	}
	return d.scalar(node, out, path)
}

func (d *decoder) mapping(node *yaml.Node, out reflect.Value, path string) error {
	if node.Kind != yaml.MappingNode {
		if title := out.FieldByName("Title"); title.IsValid() && node.Kind == yaml.ScalarNode && out.NumField() == 2 {
			return d.scalar(node, title, path) // "- Buyer" for a role is short for "- title: Buyer"
		}
		return d.failf(node, path, "expected a mapping, as in name: value")
	}
	seen, fields := map[string]bool{}, fieldsOf(out.Type())
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		place, known := fields[key.Value]
		switch {
		case !known:
			return d.failf(key, path, "there is no %q here; there are %s", key.Value, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		case seen[key.Value]:
			return d.failf(key, path, "%q is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := d.value(value, out.FieldByIndex(place), join(path, key.Value)); err != nil {
			return err
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldsOf returns the indexes of a struct's fields by their JSON names.
func fieldsOf(t reflect.Type) map[string][]int {
	places := map[string][]int{}
	for _, field := range reflect.VisibleFields(t) {
		if !field.Anonymous {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			places[name] = field.Index
		}
	}
	return places
}

func (d *decoder) sequence(node *yaml.Node, out reflect.Value, path string) error {
	if node.Kind != yaml.SequenceNode {
		return d.failf(node, path, "expected a list")
	}
	for i, item := range node.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.file.lines[at] = item.Line
		element := reflect.New(out.Type().Elem()).Elem()
		if err := d.value(item, element, at); err != nil {
			return err
		}
		out.Set(reflect.Append(out, element))
	}
	return nil
}

// content reads the file that the YAML names.
func (d *decoder) content(node *yaml.Node, out reflect.Value, path string) error {
	var name string
	if err := d.scalar(node, reflect.ValueOf(&name).Elem(), path); err != nil {
		return err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.folder, name)
	}
	content, err := readFile(name)
	if err != nil {
		return d.failf(node, path, "%v", err)
	}
	out.SetBytes(content)
	return nil
}

func (d *decoder) scalar(node *yaml.Node, out reflect.Value, path string) error {
	if node.Kind != yaml.ScalarNode {
		return d.failf(node, path, "expected a single value")
	}
	if text, ok := out.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := text.UnmarshalText([]byte(node.Value)); err != nil {
			return d.failf(node, path, "%v", err)
		}
		return nil
	}
	if out.Kind() == reflect.String {
		out.SetString(node.Value) // a name such as 2026 or yes keeps its spelling
		return nil
	}
	if err := node.Decode(out.Addr().Interface()); err != nil {
		return d.failf(node, path, "%q is not %s", node.Value, word(out.Kind()))
	}
	return nil
}

func word(kind reflect.Kind) string {
	switch kind {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	}
	return "a number"
}
