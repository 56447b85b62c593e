// Command coldbuild measures how long it takes to build a program that uses signforms and its webhook package when only the
// standard library is compiled already, as on a build machine without a cache of its own. For comparison it also builds a program
// that does the same with only the standard library. That takes mostly the linker's time.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// bar is the time that the build may take.
const bar = 3 * time.Second

const (
	withSDK      = "github.com/signforms/signforms-go/bench/coldbuild/program"
	withStandard = "github.com/signforms/signforms-go/bench/coldbuild/standard"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each program is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int) error {
	dir, err := os.MkdirTemp("", "coldbuild")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	standard := filepath.Join(dir, "standard")
	fmt.Println("compiling the standard library …")
	if err := compileStandard(ctx, standard); err != nil {
		return err
	}
	spent := map[string][]cost{}
	for i := range rounds {
		for _, program := range []string{withStandard, withSDK} {
			cache := filepath.Join(dir, fmt.Sprint("cache", i))
			if err := os.CopyFS(cache, os.DirFS(standard)); err != nil {
				return err
			}
			c, err := build(ctx, cache, filepath.Join(dir, "program"), program)
			if err != nil {
				return err
			}
			spent[program] = append(spent[program], c)
			if err := os.RemoveAll(cache); err != nil {
				return err
			}
		}
	}
	report("standard library only", spent[withStandard])
	report("signforms and webhook", spent[withSDK])
	fmt.Printf("the bar is %v, %s, %d processors\n", bar, runtime.Version(), runtime.NumCPU())
	return nil
}

// cost is the elapsed time and the CPU time of a build. Other programs on the machine distort the elapsed time.
type cost struct{ wall, cpu time.Duration }

func report(name string, costs []cost) {
	best := slices.MinFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) })
	fmt.Printf("%-22s best of %d: %.1f s, %.1f s of CPU time\n", name, len(costs), best.wall.Seconds(), best.cpu.Seconds())
}

// compileStandard fills a build cache with the packages of the standard library that the programs need.
func compileStandard(ctx context.Context, cache string) error {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{if .Standard}}{{.ImportPath}}{{end}}", withSDK, withStandard)
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the standard library (run this in bench/): %w", err)
	}
	_, err = goBuild(ctx, cache, append([]string{"build"}, strings.Fields(string(out))...)...)
	return err
}

func build(ctx context.Context, cache, output, program string) (cost, error) {
	return goBuild(ctx, cache, "build", "-o", output, program)
}

func goBuild(ctx context.Context, cache string, args ...string) (cost, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("go %s: %w\n%s", args[0], err, &out)
	}
	return cost{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
