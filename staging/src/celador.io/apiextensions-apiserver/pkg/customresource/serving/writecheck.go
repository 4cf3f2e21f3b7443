// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// A writeCheck refuses a request whose object could be stored, but could not be served in all
// versions afterwards. It is immutable and safe for concurrent use.
type writeCheck struct {
	converter *rulesConverter
	defaulter runtime.ObjectDefaulter
	// requested is the version of the request, and stored the storage version.
	requested, stored schema.GroupVersion
	// served holds the versions to which a stored object must convert. It leaves out those that
	// differ from the storage version in apiVersion only.
	served []schema.GroupVersion
}

// writeCheck returns the check of requests in a version, or nil if what is stored can always be
// served.
func (b *build) writeCheck(version string) *writeCheck {
	if b.converters.checked == nil {
		return nil
	}
	check := &writeCheck{
		converter: b.converters.checked, defaulter: b.schemas.Defaulter(scheme.Scheme),
		requested: b.gv(version), stored: b.stored,
	}
	for i := range b.crd.Spec.Versions {
		if v := &b.crd.Spec.Versions[i]; v.Served && !b.converters.identical(b.stored.Version, v.Name) {
			check.served = append(check.served, b.gv(v.Name))
		}
	}
	if len(check.served) == 0 && b.converters.identical(version, b.stored.Version) {
		return nil
	}
	return check
}

// Validate implements customresource.Validator. It converts the object to the storage version and
// sets defaults, as a write and the next read would do. Then it converts the result to each other
// served version.
//
// An update may keep an object that did not convert to another version before, so that labels,
// finalizers and the status of an older object can be written. But the object must convert to the
// version of the request, in which the response is.
func (c *writeCheck) Validate(ctx context.Context, object, old map[string]any) field.ErrorList {
	stored, err := c.store(ctx, &unstructured.Unstructured{Object: object})
	if err != nil {
		return c.refuse(nil, &unstructured.Unstructured{Object: object}, c.stored, err)
	}
	var errs field.ErrorList
	for i, version := range c.served {
		in := stored
		if i < len(c.served)-1 {
			in = stored.DeepCopy()
		}
		_, err := c.converter.coerced(c.converter.uncoerced.Convert(ctx, in, version.Version))
		if err != nil && (version == c.requested || !c.failedBefore(ctx, old, version)) {
			errs = c.refuse(errs, stored, version, err)
		}
	}
	return errs
}

// store returns the object that a read would find in the storage version after the write. It does
// not change object.
func (c *writeCheck) store(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored := object.DeepCopy()
	if c.requested != c.stored {
		var err error
		if stored, err = c.converter.coerced(c.converter.uncoerced.Convert(ctx, stored, c.stored.Version)); err != nil {
			return nil, err
		}
	}
	c.defaulter.Default(stored)
	return stored, nil
}

// failedBefore reports whether the object before an update does not convert to a version. old is
// nil when the object is created.
func (c *writeCheck) failedBefore(ctx context.Context, old map[string]any, version schema.GroupVersion) bool {
	if old == nil {
		return false
	}
	stored, err := c.store(ctx, &unstructured.Unstructured{Object: old})
	if err != nil {
		return true
	}
	_, err = c.converter.coerced(c.converter.uncoerced.Convert(ctx, stored, version.Version))
	return err != nil
}

// refuse appends the error of a failed conversion to errs. It does not if the client cannot do
// anything about it: the CustomResourceDefinition or the server is to blame, and the response needs
// no conversion to the version. The object can then be stored.
func (c *writeCheck) refuse(errs field.ErrorList, in *unstructured.Unstructured, to schema.GroupVersion, err error) field.ErrorList {
	failure := asConversionError(in, to.Version, err)
	if !isInvalid(failure) && to != c.requested {
		return errs
	}
	return append(errs, unconvertible(failure))
}

// isInvalid reports whether a conversion failed because of the object, and not because of the
// CustomResourceDefinition or the server.
func isInvalid(failure *conversion.Error) bool {
	reasons := []conversion.ErrorReason{conversion.ReasonEvaluation, conversion.ReasonCost, conversion.ReasonType, conversion.ReasonMetadata}
	return slices.Contains(reasons, failure.Reason)
}

// unconvertible returns the error of a write whose object does not convert. Its field is the one
// that the failing rule would set.
func unconvertible(failure *conversion.Error) *field.Error {
	if !isInvalid(failure) {
		return field.InternalError(nil, failure)
	}
	invalid := field.Invalid(nil, field.OmitValueType{}, failure.Error())
	if failure.Rule != nil {
		invalid.Field = ruleTarget(failure.Rule)
	} else if failure.Reason == conversion.ReasonMetadata {
		invalid.Field = "metadata"
	}
	return invalid
}

// ruleTarget returns the path of the field that a rule sets. If the rule sets the whole object, it
// returns <nil>, the text of an empty path.
func ruleTarget(rule *conversion.RuleID) string {
	at := rule.At
	if at == "" {
		at = rule.Scope
	}
	path := strings.TrimPrefix(at, ".")
	switch name := strings.TrimPrefix(rule.Field, "."); {
	case name == "":
	case path == "" || strings.HasPrefix(name, "["):
		path += name
	default:
		path += "." + name
	}
	if path == "" {
		return (*field.Path)(nil).String()
	}
	return path
}
