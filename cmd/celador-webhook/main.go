// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command celador-webhook evaluates policies for clusters whose API server does not.
package main

import (
	"os"
	_ "time/tzdata" // time zones of expressions where the machine has none

	"k8s.io/component-base/cli"

	"celador.io/polyfill/pkg/app"
)

func main() { os.Exit(cli.Run(app.NewCommand())) }
