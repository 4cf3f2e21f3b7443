// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"os"
	"path/filepath"
)

// dataDirEnv is the environment variable that sets the data directory of serve, kubectl and audit.
const dataDirEnv = "CELADOR_DATA_DIR"

// defaultDataDir returns the directory in $CELADOR_DATA_DIR. If that is empty, it returns
// homeDataDir.
func defaultDataDir() string {
	return cmp.Or(os.Getenv(dataDirEnv), homeDataDir())
}

// homeDataDir returns .celador in the home directory, or in the current directory if the user has
// no home directory.
func homeDataDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".celador")
}
