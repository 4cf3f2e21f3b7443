// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"celador.io/celador/test/e2e/conformance/process"
)

func TestAwait(t *testing.T) {
	run := func(ctx context.Context, t *testing.T, script string) context.Context {
		dir := t.TempDir()
		p, err := process.Start("sh", "/bin/sh", dir, filepath.Join(dir, "sh.log"), "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Stop(0) })
		ctx, cancel := process.Context(ctx, p)
		t.Cleanup(cancel)
		return ctx
	}
	const forever = "mkfifo never; read line < never"
	never := func(context.Context) error { return errors.New("not yet") }

	t.Run("until the check succeeds", func(t *testing.T) {
		calls := 0
		err := await(run(t.Context(), t, forever), func(context.Context) error {
			if calls++; calls < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		if err != nil || calls != 3 {
			t.Errorf("got error %v after %d checks, want none after 3", err, calls)
		}
	})
	t.Run("until the process ends", func(t *testing.T) {
		err := await(run(t.Context(), t, "exit 3"), never)
		if err == nil || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("got error %v, want the end of the process", err)
		}
	})
	t.Run("until the context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		err := await(run(ctx, t, forever), never)
		if err == nil {
			t.Fatal("no error")
		}
		for _, want := range []string{"enough", "not yet"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	})
}
