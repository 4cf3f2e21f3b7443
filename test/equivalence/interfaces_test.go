// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import types "celador.io/celador/test/equivalence/served"

var (
	deployments, deployment             = types.Deployments, types.Deployment
	legacyDeployments, legacyDeployment = types.LegacyDeployments, types.LegacyDeployment
	widgets, widget                     = types.Widgets, types.Widget
	newerWidgets, newerWidget           = types.NewerWidgets, types.NewerWidget
	interfaces                          = types.Interfaces
)
