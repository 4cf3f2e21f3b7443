// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"celador.io/offline/manifest"
	"celador.io/offline/skeleton"

	"celador.io/celador/pkg/offlinebackend"
)

// writeSkeleton writes a suite for the policies of a file. args may hold the path of the suite,
// where - stands for w; by default, it is suite.yaml beside the policy. writeSkeleton never
// replaces a file. If it writes a file, it prints to w how to run the suite.
func writeSkeleton(ctx context.Context, w io.Writer, policy string, args []string) error {
	if len(args) > 1 {
		return unusable("--init takes one argument, the file of the suite")
	}
	path := filepath.Join(filepath.Dir(policy), "suite.yaml")
	if len(args) == 1 {
		path = args[0]
	}
	text, err := skeleton.New(ctx, offlinebackend.KubeAPIServer, policy, filepath.Dir(path))
	var located *manifest.Error
	if errors.As(err, &located) {
		return exitError{err, exitUnusable}
	} else if err != nil {
		return unusable("%w", err)
	}
	if path == "-" {
		if _, err := w.Write(text); err != nil {
			return unusable("%w", err)
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return unusable("%s exists: name another file after --init %s, or - for standard output", path, policy)
	}
	if err != nil {
		return unusable("%w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return unusable("%w", err)
	}
	fmt.Fprintf(w, "wrote %s. Run it with: celador test %s\n", path, path)
	if count := strings.Count(string(text), "- name: "+skeleton.Todo); count > 0 {
		fmt.Fprintf(w, "cases to fill in: %d, marked with %s\n", count, skeleton.Todo)
	}
	return nil
}
