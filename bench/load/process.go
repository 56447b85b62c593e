package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// process is a receiver that runs in its own process.
type process struct {
	cmd     *exec.Cmd
	stdin   io.Closer
	address string
}

// start runs a receiver and waits until it listens.
func start(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin}
	stopWaiting := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stopWaiting()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		p.stop()
		return nil, errors.Join(fmt.Errorf("%s did not listen", cmd.Path), ctx.Err())
	}
	p.address = address
	return p, nil
}

// stop ends the receiver and waits for its end.
func (p *process) stop() {
	p.stdin.Close()
	timer := time.AfterFunc(5*time.Second, func() { p.cmd.Process.Kill() })
	defer timer.Stop()
	p.cmd.Wait()
}

// cpu asks the receiver how much CPU time it has used.
func (p *process) cpu(ctx context.Context) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/cpu", nil)
	if err != nil {
		return 0, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(n) * time.Microsecond, err
}
