// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// using returns a binding with a paramRef.
func using(name string, ref v1.ParamRef, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	b := bindingOf(name, usualPolicy, actions...)
	b.Spec.ParamRef = &ref
	return b
}

func byName(name string) v1.ParamRef {
	return v1.ParamRef{Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
}

func bySelector(selector *metav1.LabelSelector) v1.ParamRef {
	return v1.ParamRef{Selector: selector, ParameterNotFoundAction: new(v1.DenyAction)}
}

func orAllow(ref v1.ParamRef) v1.ParamRef {
	ref.ParameterNotFoundAction = new(v1.AllowAction)
	return ref
}

func in(namespace string, ref v1.ParamRef) v1.ParamRef {
	ref.Namespace = namespace
	return ref
}

// withParams returns an example of a policy with a paramKind and one validation.
func withParams(kind *v1.ParamKind, expression string, ref v1.ParamRef, want []string, params ...*unstructured.Unstructured) example {
	return example{
		spec:     v1.ValidatingAdmissionPolicySpec{ParamKind: kind, Validations: validating(expression)},
		bindings: []*v1.ValidatingAdmissionPolicyBinding{using(usualBinding, ref, v1.Deny)},
		params:   params,
		want:     want,
	}
}

const (
	// most and mostOf compare with the limits in ConfigMap and Limit parameters.
	most          = "object.spec.replicas <= int(params.data.most)"
	mostDenied    = "denied: failed expression: " + most
	mostOf        = "object.spec.replicas <= params.spec.most"
	mostOfDenied  = "denied: failed expression: " + mostOf
	noneFound     = "denied: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
	needNamespace = "denied: failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
)

// params are examples of parameters.
func params() map[string]example {
	everyLimit := bySelector(labelled("set", "a"))
	on := func(request string, e example) example {
		e.on = request
		return e
	}
	ignored := func(e example) example {
		e.spec = ignoring(e.spec)
		return e
	}
	bound := func(e example, bindings ...*v1.ValidatingAdmissionPolicyBinding) example {
		e.bindings = bindings
		return e
	}
	specified := func(e example, change func(*v1.ValidatingAdmissionPolicySpec)) example {
		change(&e.spec)
		return e
	}
	const unboundIndex = "[1][params] == 1"
	unbound := bound(withParams(configMapKind, "params == null", byName(""), nil), bindingOf(usualBinding, usualPolicy, v1.Deny))
	noted := specified(withParams(configMapKind, "true", bySelector(&metav1.LabelSelector{}), says("noted key0=3, 5"), configMap("blue", "a", "3"), configMap("blue", "b", "5"), configMap("blue", "c", "3")),
		func(s *v1.ValidatingAdmissionPolicySpec) { s.AuditAnnotations = note("string(params.data.most)") })
	message := specified(withParams(limitKind, mostOf, byName("a"), says("denied: at most 5"), limit("blue", "a", 5)),
		func(s *v1.ValidatingAdmissionPolicySpec) {
			s.Validations[0].MessageExpression = "'at most ' + string(params.spec.most)"
		})
	equal := bound(specified(withParams(limitKind, mostOf, byName(""), says("warned: a: at most 5", "warned: b: at most 5"), limit("blue", "a", 5), limit("blue", "b", 5), limit("blue", "c", 20), limit("blue", "d", 20)),
		func(s *v1.ValidatingAdmissionPolicySpec) {
			s.Validations[0].MessageExpression = "params.metadata.name + ': at most ' + string(params.spec.most)"
		}), using(usualBinding, everyLimit, v1.Warn))
	absent := bound(withParams(limitKind, "object.spec.replicas > 5 && params.spec.least < 5", byName(""), says("warned: expression 'object.spec.replicas > 5 && params.spec.least < 5' resulted in error: no such key: least", "warned: expression 'object.spec.replicas > 5 && params.spec.least < 5' resulted in error: no such key: least"),
		limit("blue", "a", 5), limit("blue", "b", 7)), using(usualBinding, everyLimit, v1.Warn))
	variable := specified(withParams(limitKind, "variables.few", byName("a"), says("denied: failed expression: variables.few"), limit("blue", "a", 5)),
		func(s *v1.ValidatingAdmissionPolicySpec) { s.Variables = let("few", mostOf) })
	conditional := specified(withParams(limitKind, "false", everyLimit, says(neverDenied), limit("blue", "a", 5), limit("blue", "b", 10)),
		func(s *v1.ValidatingAdmissionPolicySpec) {
			s.MatchConditions = when("object.spec.replicas > params.spec.most")
		})
	exempting := specified(withParams(limitKind, "false", everyLimit, nil, limit("blue", "b", 10)),
		func(s *v1.ValidatingAdmissionPolicySpec) {
			s.MatchConditions = when("object.spec.replicas > params.spec.most")
		})
	manyFailures := bound(withParams(limitKind, "false", byName(""), nil), using(usualBinding, everyLimit, v1.Audit))
	manyFailures.spec.Validations = validating("false", "false", "false")
	for i := range 20 {
		manyFailures.params = append(manyFailures.params, limit("blue", fmt.Sprintf("a%02d", i), 5))
	}
	for i := range maxFailures {
		manyFailures.want = says(append(manyFailures.want, fmt.Sprintf(`audited {"message":"failed expression: false","policy":"policy.example.com","binding":"binding.example.com","expressionIndex":%d,"validationActions":["Audit"]}`, i%3))...)
	}
	return map[string]example{
		"by name":                           withParams(configMapKind, most, byName("a"), says(mostDenied), configMap("blue", "a", "5")),
		"by name, satisfied":                withParams(configMapKind, most, byName("a"), nil, configMap("blue", "a", "9")),
		"by name, of all":                   withParams(configMapKind, most, byName("b"), nil, configMap("blue", "a", "5"), configMap("blue", "b", "9")),
		"by name in a namespace":            withParams(configMapKind, most, in("red", byName("a")), says(mostDenied), configMap("blue", "a", "9"), configMap("red", "a", "5")),
		"by name in the object's namespace": on("create in red", withParams(configMapKind, most, byName("a"), says(mostDenied), configMap("blue", "a", "9"), configMap("red", "a", "5"))),
		"not found":                         withParams(configMapKind, most, byName("b"), says(noneFound), configMap("blue", "a", "5")),
		"not found, ignored":                ignored(withParams(configMapKind, most, byName("b"), nil, configMap("blue", "a", "5"))),
		"not found, allowed":                withParams(configMapKind, "false", orAllow(byName("b")), nil, configMap("blue", "a", "5")),
		"not found in the namespace":        on("create in red", withParams(configMapKind, most, byName("a"), says(noneFound), configMap("blue", "a", "5"))),
		"not found, no action":              withParams(configMapKind, "false", v1.ParamRef{Name: "b"}, nil, configMap("blue", "a", "5")),
		"found, allowing absence":           withParams(configMapKind, most, orAllow(byName("a")), says(mostDenied), configMap("blue", "a", "5")),
		"custom":                            withParams(limitKind, mostOf, byName("a"), says(mostOfDenied), limit("blue", "a", 5)),
		"custom, satisfied":                 withParams(limitKind, mostOf, byName("a"), nil, limit("blue", "a", 9)),
		"custom in a namespace":             on("create in red", withParams(limitKind, mostOf, in("blue", byName("a")), says(mostOfDenied), limit("blue", "a", 5))),
		"cluster":                           withParams(clusterLimitKind, mostOf, byName("a"), says(mostOfDenied), limit("", "a", 5)),
		"cluster, for a cluster object":     on("create node", withParams(clusterLimitKind, "params.spec.most > 5", byName("a"), says("denied: failed expression: params.spec.most > 5"), limit("", "a", 5))),
		"cluster, not found":                withParams(clusterLimitKind, mostOf, byName("b"), says(noneFound), limit("", "a", 5)),
		"cluster, built-in":                 withParams(namespaceKind, "params.metadata.labels.name == 'blue'", byName("red"), says("denied: failed expression: params.metadata.labels.name == 'blue'")),
		"cluster, by selector":              withParams(clusterLimitKind, mostOf, everyLimit, says(mostOfDenied), limit("", "a", 5), limit("", "b", 10)),
		"cluster, built-in, by selector":    withParams(namespaceKind, "params.metadata.labels.name == 'red'", bySelector(labelled("name", "red")), nil),
		"by selector":                       withParams(configMapKind, most, bySelector(labelled("most", "5")), says(mostDenied), configMap("blue", "a", "9"), configMap("blue", "b", "5")),
		"by selector, satisfied":            withParams(configMapKind, most, bySelector(labelled("most", "9")), nil, configMap("blue", "a", "9"), configMap("blue", "b", "5")),
		"all are to be satisfied":           withParams(limitKind, mostOf, everyLimit, says(mostOfDenied), limit("blue", "a", 10), limit("blue", "b", 5), limit("blue", "c", 20)),
		"all are satisfied":                 withParams(limitKind, mostOf, everyLimit, nil, limit("blue", "a", 10), limit("blue", "b", 9), limit("blue", "c", 20)),
		"of the namespace only":             withParams(limitKind, mostOf, everyLimit, nil, limit("blue", "a", 10), limit("red", "b", 5)),
		"of a certain namespace":            withParams(limitKind, mostOf, in("red", everyLimit), says(mostOfDenied), limit("blue", "a", 10), limit("red", "b", 5)),
		"everything is selected":            withParams(configMapKind, most, bySelector(&metav1.LabelSelector{}), says(mostDenied), configMap("blue", "a", "9"), configMap("blue", "b", "5")),
		"none selected":                     withParams(limitKind, mostOf, bySelector(labelled("set", "b")), says(noneFound), limit("blue", "a", 5)),
		"none selected, allowed":            withParams(limitKind, "false", orAllow(bySelector(labelled("set", "b"))), nil, limit("blue", "a", 5)),
		"none selected, ignored":            ignored(withParams(limitKind, mostOf, bySelector(labelled("set", "b")), nil, limit("blue", "a", 5))),
		"no reference means null":           unbound,
		"index that is null":                bound(withParams(configMapKind, unboundIndex, byName(""), says("denied: expression '"+unboundIndex+"' resulted in error: invalid qualifier type: <nil>")), bindingOf(usualBinding, usualPolicy, v1.Deny)),
		"reference without a kind":          bound(example{spec: never, want: says(neverDenied)}, using(usualBinding, byName("a"), v1.Deny)),
		"null is read":                      bound(withParams(configMapKind, most, byName(""), says("denied: expression '"+most+"' resulted in error: params is null: the binding has no paramRef")), bindingOf(usualBinding, usualPolicy, v1.Deny)),
		"own kind":                          withParams(configMapKind, "params.kind == 'ConfigMap' && params.apiVersion == 'v1' && params.metadata.name == 'a' && params.metadata.namespace == 'blue'", byName("a"), nil, configMap("blue", "a", "5")),
		"own kind, custom":                  withParams(limitKind, "params.kind == 'Limit' && params.apiVersion == 'rules.example.com/v1' && params.metadata.uid == 'uid-of-a'", byName("a"), nil, limit("blue", "a", 5)),
		"own metadata":                      withParams(configMapKind, "string(params.metadata.creationTimestamp) == '2026-01-02T03:04:05Z' && params.metadata.resourceVersion == '7' && has(params.metadata.labels) && !has(params.metadata.annotations)", byName("a"), nil, configMap("blue", "a", "5")),
		"missing field":                     withParams(configMapKind, "params.binaryData.size() == 0", byName("a"), says("denied: expression 'params.binaryData.size() == 0' resulted in error: no such key: binaryData"), configMap("blue", "a", "5")),
		"list in params":                    withParams(limitKind, "object.spec.template.spec.containers.all(c, params.spec.prefixes.exists(p, c.image.startsWith(p)))", byName("a"), says("denied: failed expression: object.spec.template.spec.containers.all(c, params.spec.prefixes.exists(p, c.image.startsWith(p)))"), limit("blue", "a", 5)),
		"in a message":                      message,
		"in messages, otherwise equal":      equal,
		"missing in each":                   absent,
		"in a variable":                     variable,
		"in a condition":                    conditional,
		"in a condition, exempt":            exempting,
		"in annotations":                    noted,
		"through two bindings": bound(withParams(limitKind, mostOf, byName(""), says("denied by policy.example.com with b: failed expression: "+mostOf), limit("blue", "a", 10), limit("blue", "b", 5)),
			using("a", byName("a"), v1.Deny), using("b", byName("b"), v1.Deny)),
		"warned of each": bound(withParams(limitKind, mostOf, byName(""), says("warned: failed expression: "+mostOf, "warned: failed expression: "+mostOf), limit("blue", "a", 1), limit("blue", "b", 5), limit("blue", "c", 10)),
			using(usualBinding, everyLimit, v1.Warn)),
		"audited of many": manyFailures,
		"one binding without": bound(withParams(limitKind, "params == null", byName(""), says("denied by policy.example.com with b: failed expression: params == null"), limit("blue", "a", 10)),
			bindingOf("a", usualPolicy, v1.Deny), using("b", byName("a"), v1.Deny)),
	}
}

// paramErrors are examples of wrong paramKinds and paramRefs, to which failurePolicy applies.
func paramErrors() map[string]example {
	both := byName("a")
	both.Selector = labelled("set", "a")
	badSelector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "set", Operator: "Resembles"}}}
	// Each case has variants with failurePolicy Ignore and with action Warn.
	result := map[string]example{}
	for name, c := range map[string]struct {
		kind     *v1.ParamKind
		ref      v1.ParamRef
		on, want string
	}{
		"unknown kind":                    {unknownKind, byName("a"), "", "denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Unknown'"},
		"unknown group":                   {&v1.ParamKind{APIVersion: "no.example.com/v1", Kind: "Limit"}, byName("a"), "", "denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'no.example.com/v1, Kind=Limit'"},
		"unknown version":                 {&v1.ParamKind{APIVersion: "rules.example.com/v7", Kind: "Limit"}, orAllow(byName("a")), "", "denied by the policy: failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v7, Kind=Limit'"},
		"namespace for a cluster kind":    {clusterLimitKind, in("blue", byName("a")), "", "denied: failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		"namespace, selector":             {clusterLimitKind, in("blue", bySelector(labelled("set", "a"))), "", "denied: failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		"no namespace for a node":         {limitKind, byName("a"), "create node", needNamespace},
		"no namespace, selector":          {configMapKind, bySelector(&metav1.LabelSelector{}), "create node", needNamespace},
		"no namespace, absence allowed":   {limitKind, orAllow(byName("a")), "create node", needNamespace},
		"name and selector":               {limitKind, both, "", "denied: failed to configure binding: paramRef.name and paramRef.selector are mutually exclusive"},
		"neither name nor selector":       {limitKind, v1.ParamRef{ParameterNotFoundAction: new(v1.DenyAction)}, "", "denied: failed to configure binding: one of name or selector must be provided"},
		"invalid selector":                {limitKind, bySelector(badSelector), "", `denied: failed to configure binding: "Resembles" is not a valid label selector operator`},
		"no params for the new namespace": {limitKind, byName("a"), "create namespace", noneFound},
	} {
		e := withParams(c.kind, "false", c.ref, says(c.want), limit("blue", "a", 5), limit("", "a", 5), configMap("blue", "a", "5"))
		e.on = c.on
		result[name] = e
		ignored := e
		ignored.spec, ignored.want = ignoring(e.spec), nil
		result[name+", ignored"] = ignored
		warning := e
		warning.bindings = []*v1.ValidatingAdmissionPolicyBinding{using(usualBinding, c.ref, v1.Warn)}
		result[name+", only warning"] = warning
	}
	return result
}
