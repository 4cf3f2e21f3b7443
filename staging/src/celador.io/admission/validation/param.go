// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

func checkParamKind(path *field.Path, kind *v1.ParamKind) field.ErrorList {
	return slices.Concat(
		checkAPIVersion(path.Child("apiVersion"), kind.APIVersion),
		checkKind(path.Child("kind"), kind.Kind),
	)
}

// checkAPIVersion checks that the group is a DNS subdomain and that the version is a DNS label.
func checkAPIVersion(path *field.Path, apiVersion string) field.ErrorList {
	if apiVersion == "" {
		return missing(path, "")
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return invalid(path, apiVersion, err.Error())
	}
	var errs field.ErrorList
	if gv.Group != "" {
		errs = joined(path, gv.Group, "", validation.IsDNS1123Subdomain(gv.Group))
	}
	if gv.Version == "" {
		return append(errs, field.Invalid(path, apiVersion, "version must be specified"))
	}
	return append(errs, joined(path, gv.Version, "", validation.IsDNS1035Label(gv.Version))...)
}

func checkKind(path *field.Path, kind string) field.ErrorList {
	if kind == "" {
		return missing(path, "")
	}
	return joined(path, kind, "may have mixed case, but should otherwise match: ",
		validation.IsDNS1035Label(strings.ToLower(kind)))
}

// joined returns one error with all messages about a value.
func joined(path *field.Path, value, prefix string, messages []string) field.ErrorList {
	return when(len(messages) > 0, field.Invalid(path, value, prefix+strings.Join(messages, ",")))
}

func checkParamRef(path *field.Path, ref *v1.ParamRef) field.ErrorList {
	const exclusive = "name and selector are mutually exclusive"
	var (
		named    = ref.Name != ""
		selected = ref.Selector != nil
		name     = path.Child("name")
		selector = path.Child("selector")
	)
	return slices.Concat(
		invalid(name, ref.Name, content.IsPathSegmentName(ref.Name)...),
		when(named && selected, field.Forbidden(name, exclusive)),
		optional(selector, ref.Selector, checkSelector),
		when(named && selected, field.Forbidden(selector, exclusive)),
		when(!named && !selected, field.Required(path, "one of name or selector must be specified")),
		oneOf(v1.DenyAction, v1.AllowAction).required(path.Child("parameterNotFoundAction"), unlessEmpty(ref.ParameterNotFoundAction)),
	)
}
