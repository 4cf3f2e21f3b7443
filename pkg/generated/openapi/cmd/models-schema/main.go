// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command models-schema prints the OpenAPI v2 document of the policy kinds. applyconfiguration-gen
// reads the list types and list map keys from it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/celador/pkg/generated/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "models-schema: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	ref := func(name string) spec.Ref { return spec.MustCreateRef(name) }
	var kinds []string
	for name := range openapi.GetOpenAPIDefinitions(ref) {
		kinds = append(kinds, name)
	}
	swagger, err := builder.BuildOpenAPIDefinitionsForResources(&common.Config{
		Info:           &spec.Info{InfoProps: spec.InfoProps{Title: "Celador", Version: "unversioned"}},
		GetDefinitions: openapi.GetMergedOpenAPIDefinitions,
	}, kinds...)
	if err != nil {
		return fmt.Errorf("building the OpenAPI document: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(swagger)
}
