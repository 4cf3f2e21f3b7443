// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdinformer_test

import (
	"celador.io/apiextensions-apiserver/pkg/crdinformer"
	client "celador.io/client-go/clientset/typed/apiextensions/v1"
)

var _ crdinformer.Client = client.CustomResourceDefinitionInterface(nil)
