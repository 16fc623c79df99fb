package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// interruptible is a context that ends when somebody asks whether it has, and it is time.
type interruptible struct {
	context.Context
	stop context.CancelFunc
	mu   sync.Mutex
	now  func() bool
}

func interruptWhen(now func() bool) *interruptible {
	ctx, stop := context.WithCancel(context.Background())
	return &interruptible{Context: ctx, stop: stop, now: now}
}

// interruptAfter is one that ends when it was asked n times.
func interruptAfter(n int) *interruptible {
	return interruptWhen(func() bool { n--; return n == 0 })
}

func (c *interruptible) Err() error {
	c.mu.Lock()
	if c.now() {
		c.stop()
	}
	c.mu.Unlock()
	return c.Context.Err()
}

// wrongQueue is a wrong history without positions, most of which does not matter: only a
// search finds that a purged message is delivered.
func wrongQueue() []byte {
	var b bytes.Buffer
	b.WriteString("process,call,return,f,key,payloads,max,records,count\n")
	at := 0
	row := func(format string, args ...any) {
		fmt.Fprintf(&b, "1,%d,%d,%s\n", at, at+1, fmt.Sprintf(format, args...))
		at += 2
	}
	for i := range 6 {
		row("append,,a%d,,,", i)
		row("poll,c1,,1,a%d,", i)
	}
	row("append,,b;c,,,")
	row("purge,,,,,2")
	row("append,,d,,,")
	row("poll,c1,,1,b,")
	return b.Bytes()
}

// TestInterruptedHistory: whenever an interrupt comes, what is left so far is kept, or
// nothing, and the same command goes on to what it would have become without.
func TestInterruptedHistory(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "queue.csv")
	require.NoError(t, os.WriteFile(whole, wrongQueue(), 0o644))
	out, tried := filepath.Join(dir, "small.jsonl"), filepath.Join(dir, "small.jsonl.tried")
	args := []string{"minimize", whole, "--semantics", "rabbitmq", "--jobs", "1", "--out", out}
	var want bytes.Buffer
	require.Equal(t, exitPass, execute(context.Background(), args, &want, io.Discard), want.String())
	smallest, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, os.Remove(out))

	kept, nothing, larger := 0, 0, 0
	for n, code := 1, exitUndecided; code != exitPass; n += 1 + n/8 {
		var text, log bytes.Buffer
		code = execute(interruptAfter(n), args, &text, &log)
		if code == exitPass {
			require.Equal(t, want.String(), text.String())
			break
		}
		require.Equal(t, exitUndecided, code, "interrupted at %d: %s", n, log.String())
		switch {
		case fileExists(out):
			kept++
			require.Contains(t, text.String(), "verdict   undecided: more may be left out: give the same command again\n")
			require.FileExists(t, tried)
			require.Equal(t, exitViolated, execute(context.Background(), []string{"check", out, "--semantics", "rabbitmq"}, io.Discard, io.Discard))
			now, err := os.ReadFile(out)
			require.NoError(t, err)
			if len(now) > len(smallest) {
				larger++
			}
		default:
			nothing++
			require.Empty(t, text.String())
		}
		text.Reset()
		require.Equal(t, exitPass, execute(context.Background(), args, &text, io.Discard))
		require.Equal(t, want.String(), text.String(), "interrupted at %d", n)
		now, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, string(smallest), string(now))
		require.NoFileExists(t, tried)
		require.NoError(t, os.Remove(out))
	}
	require.Positive(t, nothing)
	require.Positive(t, kept)
	require.Positive(t, larger)
}

// TestOtherWorkDoesNotGoOn: what was tried by one contract says nothing of another one.
func TestOtherWorkDoesNotGoOn(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "queue.csv")
	require.NoError(t, os.WriteFile(whole, wrongQueue(), 0o644))
	tried := filepath.Join(dir, "queue-min.jsonl.tried")
	args := []string{"minimize", whole, "--semantics", "rabbitmq", "--jobs", "1"}
	for n := 1; !fileExists(tried); n++ {
		require.Equal(t, exitUndecided, execute(interruptAfter(n), args, io.Discard, io.Discard))
	}
	var log bytes.Buffer
	args = append(args, "--allow", "any-return-order")
	require.Equal(t, exitUsage, execute(context.Background(), args, io.Discard, &log))
	require.Contains(t, log.String(), "queue.csv by rabbitmq without any-return-order")
	require.Equal(t, exitPass, execute(context.Background(), append(args, "--force"), io.Discard, io.Discard))
	require.NoFileExists(t, tried)
}
