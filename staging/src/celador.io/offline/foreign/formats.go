// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package foreign reads the test suites of other tools for admission policies, and converts them to native suites. A
// converted suite states what the original states; its results are those of a server, which may differ from those of the other tool. Notes
// of the cases say why.
package foreign

import "celador.io/offline/suite"

// Formats returns the formats of other tools, for a suite.Loader.
func Formats() []suite.Format {
	return []suite.Format{Kubescape{}, Kaptest{}, Kyverno{}, Gatekeeper{}}
}
