// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// heldDefinitions is the number of CustomResourceDefinitions over which scenario S13 averages the
// heap. Their rules have different texts, so that they share nothing.
const heldDefinitions = 10

// A validate validates a new object by the validation rules of a schema.
type validate func(object map[string]any) field.ErrorList

// newRules holds two functions that prepare the validation rules of a schema, as a server does
// before the first read of a custom resource: upstream's and Celador's.
var newRules = [2]func(*structuralschema.Structural) validate{
	func(schema *structuralschema.Structural) validate {
		validator := cel.NewValidator(schema, true, celconfig.PerCallLimit)
		return func(object map[string]any) field.ErrorList {
			errs, _ := validator.Validate(context.Background(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			return errs
		}
	},
	func(schema *structuralschema.Structural) validate {
		rules := validationrules.Take(schema, true)
		return func(object map[string]any) field.ErrorList {
			return rules.Validate(context.Background(), object, nil)
		}
	},
}

// validateCreate runs scenario S12: the cost of the validation rules of an HTTPRoute when one is
// created.
func validateCreate(s *session) error {
	s.progress("S12: 72 validation rules")
	routes := &routes{}
	versions, err := routes.next()
	if err != nil {
		return err
	}
	object := crdtest.HTTPRouteObject("v1").Object
	var calls []func() error
	for i, create := range newRules {
		rules := create(versions[0].DeepCopy())
		if err := checkRules(rules); err != nil {
			return fmt.Errorf("%s: %w", plugins[i], err)
		}
		calls = append(calls, func() error { return rules(object).ToAggregate() })
	}
	costs, err := measure.Alternate(s.effort, calls...)
	if err != nil {
		return err
	}
	s.addTime("S12", "create, 72 validation rules", costs, 5, "")
	s.Add(report.Row{
		Scenario: "S12", About: "allocations", Unit: report.Allocations,
		Upstream: costs[0].Allocations, Celador: costs[1].Allocations,
		Target: report.Target{Times: 5},
	})
	return nil
}

// checkRules returns an error unless the rules accept the object and refuse an invalid one.
func checkRules(rules validate) error {
	object := crdtest.HTTPRouteObject("v1")
	if errs := rules(object.Object); len(errs) > 0 {
		return errs.ToAggregate()
	}
	parents := object.Object["spec"].(map[string]any)["parentRefs"].([]any)
	parents[1] = parents[0]
	if len(rules(object.Object)) == 0 {
		return errors.New("the rules accept two equal parents")
	}
	return nil
}

// firstWrite runs scenario S13: the cost of the first read and the first write of a custom resource
// that has two versions with 72 rules each.
func firstWrite(s *session) error {
	s.progress("S13: 72 validation rules in two versions")
	routes := &routes{}
	object := crdtest.HTTPRouteObject("v1").Object
	var reads, writes []func() error
	for _, create := range newRules {
		reads = append(reads, func() error {
			versions, err := routes.next()
			if err != nil {
				return err
			}
			for _, version := range versions {
				create(version)
			}
			return nil
		})
		writes = append(writes, func() error { _, err := routes.write(create, object); return err })
	}
	// Each call makes its own schemas, because rules with the same texts may be compiled only once.
	// The first function measures what making them costs, which is subtracted below.
	costs, err := measure.Alternate(s.effort, append([]func() error{func() error { _, err := routes.next(); return err }}, append(reads, writes...)...)...)
	if err != nil {
		return err
	}
	schemas, costs := costs[0], costs[1:]
	for i := range costs {
		costs[i].Nanoseconds = max(costs[i].Nanoseconds-schemas.Nanoseconds, 1000)
	}
	s.addTime("S13", "2 x 72 rules, first write", costs[2:], 5, "")
	s.addTime("S13", "2 x 72 rules, first read", costs, 5, "")

	// A server needs the schemas anyway, so their heap is subtracted.
	alone, err := routes.heap(func(schema *structuralschema.Structural) validate {
		return func(map[string]any) field.ErrorList { runtime.KeepAlive(schema); return nil }
	}, object)
	if err != nil {
		return err
	}
	held := [2]float64{}
	for i, create := range newRules {
		if held[i], err = routes.heap(create, object); err != nil {
			return err
		}
		held[i] -= alone
	}
	s.Add(report.Row{
		Scenario: "S13", About: "2 x 72 rules, heap", Unit: report.Bytes,
		Upstream: held[0], Celador: held[1], Target: report.Target{Times: 5},
		Note: fmt.Sprintf("average of %d CustomResourceDefinitions, after a write in each version, without the schemas", heldDefinitions),
	})
	return nil
}

// routes makes schemas of HTTPRoutes. Their rules have different texts each time, so that nothing
// that is compiled for one schema serves another one.
type routes struct{ made int }

// next returns the schemas of two versions, with new texts of their rules.
func (r *routes) next() ([]*structuralschema.Structural, error) {
	r.made++
	crd := crdtest.HTTPRoute("v1", "v2")
	for i := range crd.Spec.Versions {
		pad(crd.Spec.Versions[i].Schema.OpenAPIV3Schema, r.made)
	}
	var versions []*structuralschema.Structural
	for _, version := range crd.Spec.Versions {
		internal, err := schemas.InternalSchema(version.Schema)
		if err != nil {
			return nil, err
		}
		schema, err := structuralschema.NewStructural(internal)
		if err != nil {
			return nil, err
		}
		versions = append(versions, schema)
	}
	return versions, nil
}

// pad appends a comment with a number to all rules of a schema, so that their texts differ from
// those of other schemas.
func pad(schema *apiextensionsv1.JSONSchemaProps, number int) {
	for i := range schema.XValidations {
		rule := &schema.XValidations[i].Rule
		*rule = fmt.Sprintf("%s // %d", strings.TrimSpace(*rule), number)
	}
	for name, property := range schema.Properties {
		pad(&property, number)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		pad(schema.Items.Schema, number)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		pad(schema.AdditionalProperties.Schema, number)
	}
}

// write does what the first write of a custom resource in each of two versions does: it prepares
// the rules of both schemas, and validates an object by each. create is one of newRules.
func (r *routes) write(create func(*structuralschema.Structural) validate, object map[string]any) (rules []validate, err error) {
	versions, err := r.next()
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		validate := create(version)
		if errs := validate(object); len(errs) > 0 {
			return nil, errs.ToAggregate()
		}
		rules = append(rules, validate)
	}
	return rules, nil
}

// heap returns the bytes of heap that one definition uses after a write in both of its versions:
// for its rules and its schemas. create is one of newRules.
func (r *routes) heap(create func(*structuralschema.Structural) validate, object map[string]any) (float64, error) {
	held := make([][]validate, heldDefinitions)
	before := inUse()
	for i := range held {
		var err error
		if held[i], err = r.write(create, object); err != nil {
			return 0, err
		}
	}
	after := inUse()
	runtime.KeepAlive(held)
	return (after - before) / heldDefinitions, nil
}
