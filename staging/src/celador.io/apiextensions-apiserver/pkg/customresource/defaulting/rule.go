// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulefunctions"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// expressions returns the compiler of default expressions.
var expressions = sync.OnceValues(func() (*schemaexpression.Compiler, error) { return rulefunctions.NewCompiler() })

// A rule is a compiled rule. It is immutable.
type rule struct {
	source string
	// scope is the place whose values the rule reads as self.
	scope *place
	// field leads from self to the field. It has at least one segment, and all are names.
	field  rulepath.Path
	target *structuralschema.Structural
	// program is nil if the rule does not compile, and err is set.
	program *schemaexpression.Program
	err     error
	cost    rulelimit.Cost
	// reads holds the fields of self that the expression reads.
	reads []string
	// readsAll is set if the expression reads self as a whole.
	readsAll bool
	// unguarded holds the values in self that may be unset and that the expression reads without a
	// check such as has(). It is set only if the compiler is validating.
	unguarded []ruleschema.UnsetValue
}

// A compiler compiles the rules of one version. It is not safe for concurrent use.
type compiler struct {
	types *ruleresult.ObjectTypes
	// environments holds the environments of the expressions, which take longer to make than a rule
	// to compile.
	environments map[environmentKey]ruleEnvironment
	// validating is set if the rules are checked before they are stored. Constants are checked
	// then, too.
	validating bool
	// origin selects the functions that a rule may call: those of the compatibility version or, for
	// a stored rule, all that the server has.
	origin func(rule string) environment.Type
}

func newCompiler(root *structuralschema.Structural, origin func(string) environment.Type) *compiler {
	return &compiler{types: ruleresult.NewObjectTypes(root), origin: origin, environments: map[environmentKey]ruleEnvironment{}}
}

type environmentKey struct {
	scope  *place
	origin environment.Type
}

// A ruleEnvironment compiles the expressions of the rules at one place.
type ruleEnvironment struct {
	*schemaexpression.Environment
	// types are the types of the objects that the rules construct.
	types *ruleresult.ObjectTypes
}

// environment returns the environment of the rules at a place of the schema. self is the type of
// the values there.
func (c *compiler) environment(scope *place, self *apiservercel.DeclType, origin environment.Type) (ruleEnvironment, error) {
	key := environmentKey{scope, origin}
	if env, ok := c.environments[key]; ok {
		return env, nil
	}
	shared, err := expressions()
	if err != nil {
		return ruleEnvironment{}, err
	}
	types := c.types.ReadFrom(self)
	env, err := shared.Environment(schemaexpression.Scope{Self: self, Types: types, NullResults: true, CostLimit: objectBudget}, origin)
	if err != nil {
		return ruleEnvironment{}, err
	}
	c.environments[key] = ruleEnvironment{env, types}
	return c.environments[key], nil
}

// compile compiles a rule that is written at a place of the schema. If only its expression is
// invalid, it returns the rule with the error. path is the field path of the rule, for errors.
func (c *compiler) compile(at *place, source v1.DefaultRule, path *field.Path) (*rule, *field.Error) {
	r, err := target(at, source, path.Child("field"))
	if err != nil {
		return nil, err
	}
	if err := c.check(r, path.Child("rule")); err != nil {
		r.err = errors.New(err.Detail)
		return r, err
	}
	return r, nil
}

// target returns a rule with its scope and the field that it sets, but without a program. The self
// of a rule without a field is the object around the place. target returns an error if a rule must
// not set the field.
func target(at *place, source v1.DefaultRule, path *field.Path) (*rule, *field.Error) {
	if at.metadata {
		return nil, field.Forbidden(path, "fields of metadata cannot be defaulted")
	}
	r := &rule{source: source.Rule, scope: at}
	var err error
	if source.Field == "" {
		switch {
		case at.parent == nil:
			return nil, field.Required(path, "name the field to set: the object itself is never unset")
		case at.property == "":
			return nil, field.Required(path, "name the field to set: items of lists and values of maps are never unset")
		}
		r.scope, r.field = at.parent, rulepath.Path{{Name: at.property}}
	} else if r.field, err = rulepath.ParseField(source.Field); err != nil {
		return nil, field.Invalid(path, source.Field, explain(at, source.Field, err))
	}
	if detail := identifying(r.scope, r.field); detail != "" {
		return nil, field.Forbidden(path, detail)
	}
	if r.target, err = ruleschema.Resolve(r.field, r.scope.schema); err != nil {
		return nil, field.Invalid(path, source.Field, explain(at, source.Field, err))
	}
	if detail := protected(r); detail != "" {
		return nil, field.Forbidden(path, detail)
	}
	return r, nil
}

// identifying returns why a rule must not set a field that is apiVersion, kind or metadata of a
// resource, or in its metadata. It returns "" for other fields.
func identifying(scope *place, path rulepath.Path) string {
	schema, resource := scope.schema, scope.resource
	for _, step := range path {
		if resource {
			switch step.Name {
			case "metadata":
				return "fields of metadata cannot be defaulted"
			case "apiVersion", "kind":
				return step.Name + " cannot be defaulted: every object has it"
			}
		}
		next, err := ruleschema.Resolve(rulepath.Path{step}, schema)
		if err != nil {
			return ""
		}
		schema, resource = next, next.XEmbeddedResource
	}
	return ""
}

// protected returns why a rule must not set its field, or "".
func protected(r *rule) string {
	if r.target.Default.Object != nil {
		return "the field has a static default, so it is never unset: remove either default or this rule"
	}
	if list := r.scope.parent; list != nil && list.items == r.scope && len(r.field) == 1 && slices.Contains(list.schema.XListMapKeys, r.field[0].Name) {
		return fmt.Sprintf("%s is a key of the list (x-kubernetes-list-map-keys), which requests must set", r.field[0].Name)
	}
	return ""
}

// check compiles the expression of a rule.
func (c *compiler) check(r *rule, path *field.Path) *field.Error {
	if strings.TrimSpace(r.source) == "" {
		return field.Required(path, "write a CEL expression that returns the value of the field")
	}
	self := r.scope.selfType()
	if self == nil {
		return field.Invalid(path, r.source, "the rule is in a schema whose values expressions cannot read, because it does not declare the items of an array")
	}
	env, err := c.environment(r.scope, self, c.origin(r.source))
	if err != nil {
		return field.InternalError(path, err)
	}
	expression, failure := env.Compile(r.source)
	if failure != nil {
		return field.Invalid(path, r.source, ruleerror.Shorten(failure.Detail)+hints(failure.Detail, r.source, r.scope))
	}
	if err := env.types.Assignable(expression.OutputType(), self, r.target); err != nil {
		return field.Invalid(path, r.source, fmt.Sprintf("the result cannot be the value of %s: %v", r.field, err))
	}
	if c.validating {
		if err := ruleresult.CheckConstants(expression, r.target); err != nil {
			return field.Invalid(path, r.source, fmt.Sprintf("%s cannot have the value: %v", r.field, err))
		}
		r.unguarded = ruleschema.Unset(r.scope.resourceSchema(), nil, expression.UnguardedReads())
	}
	if r.cost, err = rulelimit.Estimate(expression, r.scope.repetitions()); err != nil {
		return field.InternalError(path, fmt.Errorf("estimating the cost: %w", err))
	}
	r.reads, r.readsAll = reads(expression)
	if r.program, err = expression.Program(); err != nil {
		return field.InternalError(path, err)
	}
	return nil
}

// reads returns the fields or keys of self that the expression reads, and whether it reads self as
// a whole.
func reads(expression *schemaexpression.Expression) (names []string, all bool) {
	for _, read := range expression.SelfReads() {
		if len(read.Path) == 0 || read.Path[0] == schemaexpression.Entry {
			return nil, true
		}
		names = append(names, read.Path[0])
		// Expressions escape field names that CEL reserves, but not keys of maps.
		if name, ok := apiservercel.Unescape(read.Path[0]); ok && name != read.Path[0] {
			names = append(names, name)
		}
	}
	return names, false
}
