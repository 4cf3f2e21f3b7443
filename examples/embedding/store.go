// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/validating"
)

// A checker answers requests by policies and bindings that change while it is in use.
type checker struct {
	engine *validating.Engine
	store  *validating.Store
}

func newChecker() *checker {
	engine := validating.NewEngine(validating.Config{Namespaces: namespaces{}})
	return &checker{engine, engine.NewStore()}
}

// set adds or replaces policies and bindings. To remove them, call DeletePolicy and DeleteBinding
// of the store.
func (c *checker) set(objects ...runtime.Object) error { return c.store.Set(objects...) }

// check returns the error with which an API server would answer a request now.
func (c *checker) check(ctx context.Context, request admission.Attributes) error {
	result, err := c.engine.Evaluate(ctx, request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), c.store.Snapshot())
	if err != nil {
		return err
	}
	return result.Err()
}
