// Command api prints the exported API of the packages that a module's users may import, one line for each name, sorted.
// A field or method has a line of its own. An interface is one line with all its methods, because another method breaks
// its implementations. The lines contain types and values of constants, and no documentation.
//
//	go run ./scripts/api DIR OUT    writes OUT/PACKAGE.txt for each package of the module in DIR
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Name, Export string
	DepOnly                  bool
	Module                   *struct{ Path string }
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./scripts/api DIR OUT")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// write writes a file for each public package of the module in dir.
func write(dir, out string) error {
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,DepOnly,Module", "./...")
	command.Dir, command.Stderr = dir, os.Stderr
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("listing the packages of %s: %w", dir, err)
	}
	exports, public := map[string]string{}, []listed{}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Name != "main" && isPublic(p) {
			public = append(public, p)
		}
	}
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range public {
		pkg, err := load.Import(p.ImportPath)
		if err != nil {
			return err
		}
		name := p.Name
		if folder, found := strings.CutPrefix(p.ImportPath, repository+"/"); found {
			name = strings.ReplaceAll(folder, "/", ".")
		}
		if err := os.WriteFile(filepath.Join(out, name+".txt"), []byte(api(pkg)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// repository is the path of the root module, with which the paths of all modules begin.
const repository = "github.com/signforms/signforms-go"

// isPublic reports whether users may import a package. Examples are for reading.
func isPublic(p listed) bool {
	folders := strings.Split(strings.TrimPrefix(p.ImportPath, repository), "/")
	return strings.HasPrefix(p.ImportPath, repository) && p.ImportPath != repository+"/docs" &&
		!slices.Contains(folders, "internal") && !slices.Contains(folders, "examples")
}

// api returns the sorted lines of a package.
func api(pkg *types.Package) string {
	lines := []string{}
	short := func(other *types.Package) string {
		if other == pkg {
			return ""
		}
		return other.Name()
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		switch {
		case !object.Exported():
		case isStruct(object):
			t := object.(*types.TypeName)
			add("type %s%s struct", name, parameters(t, short))
			s := t.Type().Underlying().(*types.Struct)
			for i := range s.NumFields() {
				if f := s.Field(i); f.Exported() {
					add("%s", strings.TrimSpace(fmt.Sprintf("field %s.%s %s %s", name, f.Name(), types.TypeString(f.Type(), short), s.Tag(i))))
				}
			}
		default:
			line := types.ObjectString(object, short)
			if c, ok := object.(*types.Const); ok {
				line = fmt.Sprintf("const %s %s = %s", name, types.TypeString(c.Type(), short), c.Val())
			}
			add("%s", line)
		}
		if _, ok := object.(*types.TypeName); ok && object.Exported() && !types.IsInterface(object.Type()) {
			for method := range types.NewMethodSet(types.NewPointer(object.Type())).Methods() {
				if f := method.Obj(); f.Exported() {
					add("method (%s) %s%s", receiver(object, f), f.Name(), strings.TrimPrefix(types.TypeString(f.Type(), short), "func"))
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

func isStruct(object types.Object) bool {
	t, ok := object.(*types.TypeName)
	if !ok || t.IsAlias() {
		return false
	}
	_, ok = t.Type().Underlying().(*types.Struct)
	return ok
}

// parameters returns the type parameters of a generic type, in brackets.
func parameters(t *types.TypeName, short types.Qualifier) string {
	named, ok := t.Type().(*types.Named)
	if !ok || named.TypeParams().Len() == 0 {
		return ""
	}
	list := []string{}
	for p := range named.TypeParams().TypeParams() {
		list = append(list, p.Obj().Name()+" "+types.TypeString(p.Constraint(), short))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// receiver says whether the values of a type have a method too.
func receiver(object types.Object, method types.Object) string {
	if types.NewMethodSet(object.Type()).Lookup(method.Pkg(), method.Name()) != nil {
		return object.Name()
	}
	return "*" + object.Name()
}
