// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
)

// dataDirEnv names the data directory for serve and kubectl alike.
const dataDirEnv = "CELADOR_DATA_DIR"

// defaultDataDir returns the directory in the environment, or .celador in the home directory, or in the current one
// for a user without a home.
func defaultDataDir() string {
	if dir := os.Getenv(dataDirEnv); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".celador")
}
