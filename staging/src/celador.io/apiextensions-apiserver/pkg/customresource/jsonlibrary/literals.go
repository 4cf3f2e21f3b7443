// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonlibrary

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

const encodeFunction = "json.encode"

// literals lets map and list literals that json.encode encodes have values of different types, as
// in json.encode({'name': self.name, 'size': self.size}). All other literals need values of one
// type, or dynamic ones.
type literals struct{}

var (
	_ cel.ASTValidator           = literals{}
	_ cel.ASTValidatorConfigurer = literals{}
)

// Name implements cel.ASTValidator.
func (literals) Name() string { return "celador.json.literals" }

// Configure implements cel.ASTValidatorConfigurer.
func (literals) Configure(config cel.MutableValidatorConfig) error {
	exempt, _ := config.GetOrDefault(cel.HomogeneousAggregateLiteralExemptFunctions, []string{}).([]string)
	return config.Set(cel.HomogeneousAggregateLiteralExemptFunctions, append(slices.Clone(exempt), encodeFunction))
}

// Validate implements cel.ASTValidator. It reports no issues: only Configure has an effect.
func (literals) Validate(*cel.Env, cel.ValidatorConfig, *ast.AST, *cel.Issues) {}
