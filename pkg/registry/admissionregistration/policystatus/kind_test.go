// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	mutatingstorage "celador.io/celador/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/policystatus"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicy"
	validatingstorage "celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"
)

// kind is one of the two kinds of policies.
type kind struct {
	name string
	// rules are parts of a spec, and others.
	rules, others    string
	resource, status strategy
	storage          func(generic.RESTOptionsGetter) (storage, *policystatus.REST, error)
}

type strategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// storage is what a resource serves, but for its status.
type storage interface {
	rest.Storage
	rest.Creater
	rest.Getter
	rest.Updater
	rest.TableConvertor
	rest.ResetFieldsStrategy
}

// kinds have strategies that find type errors in every policy while the gate is on.
var kinds = func() []kind {
	validating := validatingadmissionpolicy.NewStrategy(paramaccess.Checker{}, misfit)
	mutating := mutatingadmissionpolicy.NewStrategy(paramaccess.Checker{}, misfit)
	return []kind{{
		name:     "ValidatingAdmissionPolicy",
		rules:    `{"validations": [{"expression": "true"}]}`,
		others:   `{"validations": [{"expression": "false"}]}`,
		resource: validating, status: validating.ForStatus(),
		storage: func(getter generic.RESTOptionsGetter) (storage, *policystatus.REST, error) {
			return validatingstorage.NewREST(getter, paramaccess.Checker{}, nil)
		},
	}, {
		name:     "MutatingAdmissionPolicy",
		rules:    `{"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}]"}}], "reinvocationPolicy": "Never"}`,
		others:   `{"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{}, JSONPatch{}]"}}], "reinvocationPolicy": "Never"}`,
		resource: mutating, status: mutating.ForStatus(),
		storage: func(getter generic.RESTOptionsGetter) (storage, *policystatus.REST, error) {
			return mutatingstorage.NewREST(getter, paramaccess.Checker{}, nil)
		},
	}}
}()

func misfit[P any](*P) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("spec"), nil, "does not fit")}
}

// policy returns a policy as it arrives in a request, each of whose parts is JSON.
func (k kind) policy(t *testing.T, metadata, rules, status string) runtime.Object {
	t.Helper()
	spec := parse(t, rules)
	spec["matchConstraints"] = parse(t, `{"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]}`)
	text, err := json.Marshal(map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": k.name, "metadata": parse(t, metadata), "spec": spec, "status": parse(t, status),
	})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := runtime.Decode(scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), text)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	content := map[string]any{}
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return content
}

// content returns what clients get of a policy: metadata, spec and status.
func content(t *testing.T, policy runtime.Object) map[string]any {
	t.Helper()
	text, err := runtime.Encode(scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), policy)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}
