// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/jsonlibrary"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulefunctions"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// compiler returns the compiler of conversion rules, which have json.encode and json.decode in
// addition to the functions of default rules.
var compiler = sync.OnceValues(func() (*schemaexpression.Compiler, error) {
	return rulefunctions.NewCompiler(jsonlibrary.Options())
})

// A compiledRule is a rule that has been checked against the schemas of both versions.
type compiledRule struct {
	// scope leads from the source object to the values that the rule is evaluated for. field leads
	// from the same place in the target to the field that the rule sets.
	scope, field rulepath.Path
	// source is the schema of the values at scope, and self their type.
	source *structuralschema.Structural
	self   *apiservercel.DeclType
	// repetitions holds the declared limits of the lists and maps that the scope leads through.
	repetitions []int64
	// target is the schema of the field.
	target     *structuralschema.Structural
	expression *schemaexpression.Expression
}

// path returns the pattern of the target's fields that the rule sets, which may contain [*].
func (r *compiledRule) path() rulepath.Path { return r.scope.Join(r.field) }

// A problem is an error in one field of a rule.
type problem struct {
	// field is the name of the field with the error: scope, field, rule or expression.
	field  string
	detail string
}

// An edge compiles the rules of one converter, which is an edge in the graph of versions. It is not
// safe for concurrent use.
type edge struct {
	from, to *typedVersion
	tables   *tables
	// shared holds the variables of the converter that have been declared so far.
	shared *schemaexpression.Shared
	// environments holds the environments of the scopes. Rules with the same scope share one.
	environments map[environmentKey]*schemaexpression.Environment
	// types returns the types that rules construct.
	types func() *ruleresult.ObjectTypes
}

type environmentKey struct {
	scope  string
	origin environment.Type
}

func newEdge(from, to *typedVersion, tables *tables) *edge {
	return &edge{
		from: from, to: to, tables: tables, shared: schemaexpression.NewShared(), environments: map[environmentKey]*schemaexpression.Environment{},
		types: sync.OnceValue(func() *ruleresult.ObjectTypes { return to.target().types.ReadFrom(from.source().self) }),
	}
}

// compile compiles a rule and checks it against the schemas of both versions. Exactly one of the
// results is set.
func (e *edge) compile(rule *v1.ConversionRule, origin environment.Type) (*compiledRule, *problem) {
	compiled := &compiledRule{}
	if p := e.resolve(rule, compiled); p != nil {
		return nil, p
	}
	expression, p := e.compileAt(compiled, "rule", rule.Rule, origin)
	if p != nil {
		return nil, p
	}
	compiled.expression = expression

	output := expression.OutputType()
	if err := e.types().Assignable(output, e.from.source().self, compiled.target); err != nil {
		return nil, &problem{"rule", err.Error()}
	}
	if path := compiled.path(); len(path) > 0 && path[len(path)-1].Each && e.isList(path[:len(path)-1]) && mayBeUnset(output) {
		return nil, &problem{"rule", fmt.Sprintf("the rule sets items of the list %s and must not return null or an optional: an item cannot be left unset. "+
			"Set the whole list instead, with field %q and filter()", path[:len(path)-1], path[:len(path)-1])}
	}
	return compiled, nil
}

// compileAt compiles an expression at the scope of a rule. field is the field of the API that
// contains the text, for errors.
func (e *edge) compileAt(r *compiledRule, field, text string, origin environment.Type) (*schemaexpression.Expression, *problem) {
	env, err := e.environment(r, origin)
	if err != nil {
		return nil, &problem{field, err.Error()}
	}
	expression, celErr := env.Compile(text)
	if celErr != nil {
		return nil, &problem{field, e.explain(celErr, text, r, origin)}
	}
	return expression, nil
}

// isList reports whether the schema of the converted object has a list at the path.
func (e *edge) isList(path rulepath.Path) bool {
	s, err := ruleschema.Resolve(path, e.to.target().schema)
	return err == nil && s.Items != nil
}

func mayBeUnset(output *types.Type) bool {
	return output.Kind() == types.NullTypeKind || output != ruleresult.Held(output)
}

// resolve parses the scope and the field of a rule, and checks that both versions have the scope
// and that the target has the field. It sets them in r, with the schemas of the values there.
func (e *edge) resolve(rule *v1.ConversionRule, r *compiledRule) *problem {
	var err error
	if r.scope, err = rulepath.ParseScope(rule.Scope); err != nil {
		return &problem{"scope", err.Error()}
	}
	if r.field, err = rulepath.ParseField(rule.Field); err != nil {
		return &problem{"field", err.Error()}
	}
	if p := checkProtected(r.scope, r.field); p != nil {
		return p
	}
	from, to := e.from.source(), e.to.target()
	if r.source, err = ruleschema.Resolve(r.scope, from.schema); err != nil {
		return &problem{"scope", fmt.Sprintf("in version %s, %s", e.from.name, err)}
	}
	if _, err := ruleschema.Resolve(r.scope, to.schema); err != nil {
		return &problem{"scope", sentence(fmt.Sprintf("in version %s, %s", e.to.name, err)) +
			" The rule sets a field in the same place that it reads: to move values to another place, use a scope that both versions have"}
	}
	if p := e.checkEntries(r.scope); p != nil {
		return p
	}
	if r.target, err = ruleschema.Resolve(r.path(), to.schema); err != nil {
		return &problem{"field", fmt.Sprintf("in version %s, %s", e.to.name, err)}
	}
	if r.self, r.repetitions = from.selfAt(r.scope); r.self == nil {
		return &problem{"scope", fmt.Sprintf("the schema of version %s does not declare the type of %s, so that expressions cannot read it", e.from.name, r.scope)}
	}
	return nil
}

// sentence ends a text with a full stop, unless it is a question.
func sentence(text string) string {
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// checkEntries returns a problem if [*] in the scope stands for the items of a list in one version
// and for the values of a map in the other one.
func (e *edge) checkEntries(scope rulepath.Path) *problem {
	for i, step := range scope {
		if !step.Each {
			continue
		}
		container := scope[:i]
		from, err := ruleschema.Resolve(container, e.from.source().schema)
		if err != nil {
			continue // The caller reports the error.
		}
		if to := e.isList(container); to != (from.Items != nil) {
			kinds := map[bool]string{true: "list", false: "map"}
			return &problem{"scope", fmt.Sprintf("%s is a %s in version %s and a %s in version %s: set it as a whole, with field %q",
				container, kinds[from.Items != nil], e.from.name, kinds[to], e.to.name, container)}
		}
	}
	return nil
}

// checkProtected returns a problem if the rule sets a field that conversion never changes.
func checkProtected(scope, field rulepath.Path) *problem {
	path := scope.Join(field)
	if len(path) == 0 {
		return nil
	}
	at := "field"
	if len(field) == 0 {
		at = "scope"
	}
	switch name := path[0].Name; {
	case typeFields[name]:
		return &problem{at, fmt.Sprintf("a rule cannot set %s: conversion sets it itself", name)}
	case name != "metadata":
		return nil
	case len(path) == 1:
		return &problem{at, "a rule cannot set metadata as a whole: set metadata.labels or metadata.annotations, or one of their keys, such as metadata.annotations['example.com/zone']"}
	case path[1].Name != "labels" && path[1].Name != "annotations":
		return &problem{at, fmt.Sprintf("a rule cannot set %s: of metadata, conversion may change only labels and annotations", path)}
	}
	return nil
}

// environment returns the environment of a rule's scope.
func (e *edge) environment(r *compiledRule, origin environment.Type) (*schemaexpression.Environment, error) {
	key := environmentKey{r.scope.String(), origin}
	if env, ok := e.environments[key]; ok {
		return env, nil
	}
	c, err := compiler()
	if err != nil {
		return nil, err
	}
	env, err := c.Environment(schemaexpression.Scope{
		Self:        r.self,
		Others:      e.declarations(r.scope),
		Shared:      e.shared,
		Types:       e.types(),
		NullResults: true,
		CostLimit:   maxObjectCost,
	}, origin)
	if err != nil {
		return nil, err
	}
	e.environments[key] = env
	return env, nil
}

// indexName is the name of the index or key of the entry that the last [*] of a scope stands for.
const indexName = "index"

// declarations returns the variables that rules with a scope read in addition to self.
func (e *edge) declarations(scope rulepath.Path) []schemaexpression.Declaration {
	declarations := []schemaexpression.Declaration{
		{Name: schemaexpression.Root, Type: e.from.source().self},
		{Name: tablesName, Type: e.tables.forward, IsNamespace: true},
		{Name: invertedName, Type: e.tables.inverted, IsNamespace: true},
	}
	if last := lastEach(scope); last >= 0 {
		key := apiservercel.StringType
		if container, err := ruleschema.Resolve(scope[:last], e.from.source().schema); err == nil && container.Items != nil {
			key = apiservercel.IntType
		}
		declarations = append(declarations, schemaexpression.Declaration{Name: indexName, Type: key})
	}
	return declarations
}

// explain returns the errors of the type checker for the text, with hints on what to write instead.
func (e *edge) explain(celErr *apiservercel.Error, text string, r *compiledRule, origin environment.Type) string {
	detail := ruleerror.Shorten(celErr.Detail)
	if origin == environment.NewExpressions {
		if env, err := e.environment(r, environment.StoredExpressions); err == nil {
			if _, err := env.Compile(text); err == nil {
				return detail + "\nThe rule uses functions or syntax that expressions may not use yet, because the server emulates an older version or other servers of the cluster may be older. They are allowed with the next minor version"
			}
		}
	}
	hints := hints{scope: r.scope.String(), self: r.self, root: e.from.source().self, target: e.to.target().schema, to: e.to.name, shared: e.shared, tables: e.tables}.of(detail, text)
	if len(hints) > 0 {
		detail += "\n" + strings.Join(hints, "\n")
	}
	return detail
}

// Error implements error.
func (p *problem) Error() string { return p.field + ": " + p.detail }
