package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/signforms/signforms-go/bench"
)

//go:embed receiver.cjs
var receiverScript []byte

// nodeReceiver is the receiver for Node.js. It is installed in its own folder.
type nodeReceiver struct {
	dir, node string
	express   bool
}

// installNode installs the receiver, or returns nil without Node.js. The receiver uses node:http if npm is missing or cannot get
// Express.
func installNode(ctx context.Context) (*nodeReceiver, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "receiver")
	if err != nil {
		return nil, err
	}
	n := &nodeReceiver{dir: dir, node: node}
	if err := n.write(); err != nil {
		n.remove()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "express@5")
	if out, err := npm.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "npm could not get Express (%v), so the receiver uses node:http:\n%s\n", err, out)
	} else {
		n.express = true
	}
	return n, nil
}

func (n *nodeReceiver) write() error { return os.WriteFile(n.script(), receiverScript, 0o600) }

func (n *nodeReceiver) script() string { return filepath.Join(n.dir, "receiver.cjs") }

func (n *nodeReceiver) remove() { os.RemoveAll(n.dir) }

func (n *nodeReceiver) name() string {
	if n.express {
		return "Node.js, Express"
	}
	return "Node.js, node:http"
}

func (n *nodeReceiver) command() *exec.Cmd {
	cmd := exec.Command(n.node, n.script())
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "RECEIVER_SECRET="+bench.Secret)
	if n.express {
		cmd.Env = append(cmd.Env, "RECEIVER_EXPRESS=1")
	}
	return cmd
}
