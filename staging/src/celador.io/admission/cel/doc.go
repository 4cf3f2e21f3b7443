// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cel is the root of the packages that compile and evaluate CEL, and holds no code itself.
// The packages know nothing of admission policies: of the module celador.io/admission, they import
// one another and package panics only.
//
// Package expression compiles and evaluates the expressions of policies and of match conditions.
// Package schemaexpression does so for the expressions of OpenAPI schemas, which custom resources
// have as validation rules, conversion rules and default expressions. The server of custom
// resources imports this tree for that reason: one parser, one evaluator and one set of limits
// serve both, and values that evaluations keep are immutable in both.
//
// The other packages in this folder are parts that policies also use directly. Package values shows
// Go objects to CEL, parser and typesize belong to type checking, constructed has the objects that
// expressions construct, such as those of apply configurations, rulepath has the paths of rules and
// scopes, and intern lets equal values share memory. Package reads lists the parts of an object
// that an expression reads, for schemaexpression. Package celtest is for tests. The packages in
// internal serve this tree alone.
//
// The tree is not a module of its own, because it changes together with the policies, and because a
// program that embeds the engine would need a third replace directive.
package cel
