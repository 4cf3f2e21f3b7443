// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"errors"
	"fmt"
	"sync"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/rulepath"
	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/locations"
	"celador.io/admission/policy"
)

// scope finds the values for which a validation is evaluated. It is safe for concurrent use.
type scope struct {
	// model is the name of the type of the values. If it is empty, path leads to them.
	model string
	path  rulepath.Path
	// plain finds the values at path without old items of lists.
	plain *locations.Finder
	// err is set if the API server that stored the policy accepts paths that this one does not.
	err     error
	schemas policy.Schemas
	// finders holds a *keptFinder for each kind of objects for which the validation was evaluated.
	finders sync.Map
}

// keptFinder is the finder of values that a scope keeps for objects of a kind, with the number of
// the schema from which it was made. A schema with another number makes it outdated. It keeps only
// the number, because the schema may be large.
type keptFinder struct {
	schema uint64
	*locations.Finder
}

func newScope(declared *v1.ScopedValues, schemas policy.Schemas) *scope {
	s := &scope{model: declared.Type, schemas: schemas}
	if s.model == "" {
		s.path, s.err = rulepath.ParseScope(declared.Path)
		s.plain = locations.AtPath(s.path, nil)
	}
	return s
}

var errNoSchemas = errors.New("schemas are not available here")

// finder returns the finder of the values in the scope, for objects of a kind. readsOld tells
// whether the old values are needed. A scope with a type needs the schema of the kind, and so does
// a path through a list or map whose old values are needed. It is an error if that schema is not
// known, or if the path is invalid.
func (s *scope) finder(kind schema.GroupVersionKind, readsOld bool) (*locations.Finder, error) {
	if s.err != nil {
		return nil, fmt.Errorf("scope: invalid path: %w", s.err)
	}
	if s.model == "" && !(readsOld && s.path.HasEach()) {
		return s.plain, nil
	}
	finder, err := s.finderBySchema(kind)
	if err != nil {
		return nil, fmt.Errorf("scope: the schema of %v is not known: %w", kind, err)
	}
	return finder, nil
}

// finderBySchema returns the finder for objects of a kind that the schema of the kind determines.
func (s *scope) finderBySchema(kind schema.GroupVersionKind) (*locations.Finder, error) {
	if s.schemas == nil {
		return nil, errNoSchemas
	}
	found, err := s.schemas.Schema(kind)
	if err != nil {
		return nil, err
	}
	if kept, ok := s.finders.Load(kind); ok && kept.(*keptFinder).schema == found.Number() {
		return kept.(*keptFinder).Finder, nil
	}
	resolved, err := found.Resolve()
	if err != nil {
		return nil, err
	}
	finder := locations.AtPath(s.path, resolved)
	if s.model != "" {
		finder = locations.OfType(s.model, resolved)
	}
	s.finders.Store(kind, &keptFinder{found.Number(), finder})
	return finder, nil
}

// errViolated ends the search for values after the first that does not satisfy the validation.
var errViolated = errors.New("violated")

// evaluateScoped evaluates the validation for each value in its scope until one does not satisfy it
// or fails. It returns the result of the last evaluation, and the location of the value that ended
// the evaluations. The location is nil if all values satisfy the validation, or if an error
// concerns no single value. series is the current series of memory.
func (v *validation) evaluateScoped(memory *activation.Memory, series *expression.Series, in *activation.Input) (ref.Val, *locations.Location, error) {
	if v.Err != nil {
		_, err := v.Evaluate(series)
		return nil, nil, err
	}
	object, old := in.Objects()
	if object == nil {
		return types.True, nil, nil
	}
	readsOld := v.Program.ReadsOldSelf()
	if readsOld && old == nil {
		return types.True, nil, nil
	}
	if !readsOld && (v.computedMessage.Absent() || v.computedMessage.Err != nil || !v.computedMessage.Program.ReadsOldSelf()) {
		old = nil
	}
	finder, err := v.scope.finder(in.Target.Kind, old != nil)
	if err != nil {
		return nil, nil, err
	}
	defer memory.Locate(nil)
	var result ref.Val = types.True
	var violated *locations.Location
	var evaluationErr error
	charge := func(steps int) error {
		if err := series.Charge(steps); err != nil {
			return fmt.Errorf("%w: the scope of the validation leads to too many values", err)
		}
		return nil
	}
	err = finder.Find(object, old, charge, func(at *locations.Location) error {
		if readsOld && at.OldSelf == nil {
			return nil
		}
		if err := locate(memory, series, at, &v.Compiled); err != nil {
			return err
		}
		result, evaluationErr = v.Evaluate(series)
		if satisfied, _ := result.(types.Bool); evaluationErr == nil && bool(satisfied) {
			return nil
		}
		violated = at.Clone()
		return errViolated
	})
	switch {
	case evaluationErr != nil:
		return nil, violated, fmt.Errorf("%w, for %s", evaluationErr, violated.Describe())
	case err == nil || errors.Is(err, errViolated):
		return result, violated, nil
	case expression.IsFatal(err):
		return nil, nil, err
	default:
		return nil, nil, fmt.Errorf("scope: %w", err)
	}
}

// locate sets the value for which e is evaluated next (Memory.Locate): at, or none if at is nil. If
// e reads 'path', locate charges series for the text of the path, and returns an error if that
// exceeds the budget.
func locate(memory *activation.Memory, series *expression.Series, at *locations.Location, e *expression.Compiled) error {
	memory.Locate(at)
	if at == nil || e.Err != nil || !e.Program.ReadsPath() {
		return nil
	}
	if err := series.Charge(len(at.Path()) / 10); err != nil {
		return fmt.Errorf("%w: the values of 'path' are too long", err)
	}
	return nil
}
