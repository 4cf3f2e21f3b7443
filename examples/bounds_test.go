// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// unbounded returns a schema without limits of lists, maps and texts, as most public definitions
// have them. It keeps maxProperties of unions.
func unbounded(s *structuralschema.Structural) *structuralschema.Structural {
	s = s.DeepCopy()
	removeLimits(s)
	return s
}

func removeLimits(s *structuralschema.Structural) {
	if v := s.ValueValidation; v != nil {
		v.MaxItems, v.MaxLength = nil, nil
		if v.MaxProperties != nil && *v.MaxProperties > 1 {
			v.MaxProperties = nil
		}
	}
	if s.Items != nil {
		removeLimits(s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		removeLimits(s.AdditionalProperties.Structural)
	}
	for name, property := range maps.All(s.Properties) {
		removeLimits(&property)
		s.Properties[name] = property
	}
}

// TestRulesWithoutLimits accepts the rules of all examples for schemas without limits, and converts
// objects that fill a request.
func TestRulesWithoutLimits(t *testing.T) {
	for _, directory := range directories(t) {
		t.Run(directory, func(t *testing.T) {
			d := load(t, directory)
			c := d.conversion()
			for i := range c.Versions {
				c.Versions[i].Schema = unbounded(c.Versions[i].Schema)
				defaults := d.expressions.Defaults[c.Versions[i].Name]
				if errs, _ := defaulting.Validate(c.Versions[i].Schema, defaults, nil, false, field.NewPath("schema")); len(errs) > 0 {
					t.Error(errs.ToAggregate())
				}
			}
			if len(c.Converters) == 0 {
				return
			}
			if errs, _ := conversion.Validate(field.NewPath("spec", "conversion"), c, nil); len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			converter := conversion.New(c)
			for _, version := range c.Versions {
				g := &generator{Rand: rand.New(rand.NewPCG(1, 2)), t: t}
				for g.more = 1; g.more < 1<<16; g.more += g.more/2 + 1 {
					object := g.objectOf(d, version.Name, version.Schema)
					text, err := json.Marshal(object.Object)
					if err != nil {
						t.Fatal(err)
					}
					if int64(len(text)) > celconfig.MaxRequestSizeBytes {
						break
					}
					for _, other := range d.others(version.Name) {
						_, err := converter.Convert(t.Context(), object, other)
						// Annotations have a limit of their own.
						if failure := new(conversion.Error); errors.As(err, &failure) && failure.Reason == conversion.ReasonCost {
							t.Fatalf("%d bytes from %s to %s: %s", len(text), version.Name, other, fmt.Sprintf("%.300s", err))
						}
					}
				}
			}
		})
	}
}
