// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"fmt"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// situation is a policy with its bindings, by default one that denies.
type situation struct {
	spec     v1.ValidatingAdmissionPolicySpec
	bindings []*v1.ValidatingAdmissionPolicyBinding
}

const (
	few       = "object.spec.replicas <= 5"
	failing   = "object.spec.missing.field == 1"
	invalid   = "object.spec.replicas <"
	wrongType = "object.spec.replicas"
)

// situations are what policy authors get into, willingly or not.
func situations() map[string]situation {
	result := map[string]situation{}
	for _, topic := range []map[string]v1.ValidatingAdmissionPolicySpec{
		validations(), messages(), conditions(), variables(), annotations(), constraints(), inputs(), budgets(),
	} {
		for name, spec := range topic {
			if _, exists := result[name]; exists {
				panic("two situations are called " + name)
			}
			result[name] = situation{spec: spec}
		}
	}
	for name, s := range bindings() {
		result[name] = s
	}
	return result
}

func validating(expressions ...string) []v1.Validation {
	var result []v1.Validation
	for _, expression := range expressions {
		result = append(result, v1.Validation{Expression: expression})
	}
	return result
}

func validations() map[string]v1.ValidatingAdmissionPolicySpec {
	ignore := new(v1.Ignore)
	result := map[string]v1.ValidatingAdmissionPolicySpec{
		"no validation":                {},
		"constant":                     {Validations: validating("true")},
		"never":                        {Validations: validating("  false\n")},
		"few replicas":                 {Validations: validating(few)},
		"first of two":                 {Validations: validating(few, "true")},
		"second of two":                {Validations: validating("true", few)},
		"two at once":                  {Validations: validating(few, "object.spec.replicas <= 4")},
		"runtime error":                {Validations: validating(failing)},
		"runtime error, ignored":       {FailurePolicy: ignore, Validations: validating(failing)},
		"denial and error":             {Validations: validating(few, failing)},
		"denial and error, ignored":    {FailurePolicy: ignore, Validations: validating(failing, few)},
		"does not compile":             {Validations: validating(invalid)},
		"does not compile, ignored":    {FailurePolicy: ignore, Validations: validating(invalid, few)},
		"not a bool":                   {Validations: validating(wrongType)},
		"undeclared params":            {Validations: validating("params == null")},
		"no such type of error either": {FailurePolicy: ignore, Validations: validating("quantity('one').sign() == 1", "int(object.metadata.name) == 1")},
	}
	for _, reason := range []metav1.StatusReason{metav1.StatusReasonUnauthorized, metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge, "Peculiar"} {
		result["reason "+string(reason)] = v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: few, Reason: &reason}}}
	}
	return result
}

func messages() map[string]v1.ValidatingAdmissionPolicySpec {
	result := map[string]v1.ValidatingAdmissionPolicySpec{}
	for name, v := range map[string]v1.Validation{
		"fixed message":                      {Message: "  too many  "},
		"blank message":                      {Message: " \t"},
		"computed message":                   {MessageExpression: "' ' + string(object.spec.replicas) + ' are too many '", Message: "fixed"},
		"computed message is empty":          {MessageExpression: "''", Message: "fixed"},
		"computed message is blank":          {MessageExpression: "'  '"},
		"computed message has lines":         {MessageExpression: "'one\\ntwo'", Message: "fixed"},
		"computed message ends in a newline": {MessageExpression: "'one\\n'", Message: "fixed"},
		"computed message fails":             {MessageExpression: "string(object.spec.missing)", Message: "fixed"},
		"computed message does not compile":  {MessageExpression: "'one' +", Message: "fixed"},
		"computed message is no string":      {MessageExpression: "1"},
		"computed message asks authorizer":   {MessageExpression: "authorizer.path('/').check('get').reason()", Message: "fixed"},
		"longest computed message":           {MessageExpression: "'" + strings.Repeat("é", 2560) + "'", Message: "fixed"},
		"computed message too long":          {MessageExpression: "'" + strings.Repeat("é", 2560) + "e'", Message: "fixed"},
		"computed from the request":          {MessageExpression: "request.operation + ' by ' + request.userInfo.username + ' in ' + namespaceObject.metadata.name"},
	} {
		v.Expression = few
		result[name] = v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{v}}
	}
	result["message of the second"] = v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
		{Expression: "true", Message: "first"}, {Expression: few, MessageExpression: "'sec' + 'ond'"}, {Expression: "false"},
	}}
	return result
}

func conditions() map[string]v1.ValidatingAdmissionPolicySpec {
	ignore := new(v1.Ignore)
	when := func(expressions ...string) []v1.MatchCondition {
		var result []v1.MatchCondition
		for i, expression := range expressions {
			result = append(result, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: expression})
		}
		return result
	}
	const isCreate = "request.operation == 'CREATE'"
	never := validating("false")
	return map[string]v1.ValidatingAdmissionPolicySpec{
		"condition":                            {MatchConditions: when(isCreate), Validations: never},
		"two conditions":                       {MatchConditions: when(isCreate, "object.metadata.name == 'web'"), Validations: never},
		"failing condition":                    {MatchConditions: when(failing), Validations: never},
		"failing condition, ignored":           {MatchConditions: when(failing), FailurePolicy: ignore, Validations: never},
		"failing and false condition":          {MatchConditions: when(failing, "false"), Validations: never},
		"failing and sometimes true condition": {MatchConditions: when(failing, isCreate), Validations: never},
		"two failing conditions":               {MatchConditions: when(failing, "object.missing == 2"), Validations: never},
		"same condition failing twice":         {MatchConditions: when(failing, failing), Validations: never},
		"condition does not compile":           {MatchConditions: when(invalid), Validations: never},
		"condition does not compile, ignored":  {MatchConditions: when(invalid), FailurePolicy: ignore, Validations: never},
		"condition asks authorizer":            {MatchConditions: when("authorizer.requestResource.check('read').allowed()"), Validations: never},
		"condition reads namespace":            {MatchConditions: when("namespaceObject == null"), Validations: never},
		"condition reads its labels":           {MatchConditions: when("namespaceObject.metadata.name == 'blue'"), Validations: never},
		"condition reads requested resource": {
			MatchConstraints: matchResources(v1.Equivalent, rule("extensions", "v1beta1", "deployments")),
			MatchConditions:  when("request.resource.group == 'apps' && request.kind.group == 'extensions'"),
			Validations:      never,
		},
		"condition reads variables": {
			Variables:       []v1.Variable{{Name: "creates", Expression: isCreate}},
			MatchConditions: when("variables.creates"),
			Validations:     validating("!variables.creates"),
		},
	}
}

func variables() map[string]v1.ValidatingAdmissionPolicySpec {
	return map[string]v1.ValidatingAdmissionPolicySpec{
		"variables in a chain": {
			Variables:   []v1.Variable{{Name: "spec", Expression: "object.spec"}, {Name: "few", Expression: "variables.spec.replicas <= 5"}},
			Validations: []v1.Validation{{Expression: "variables.few", MessageExpression: "'have ' + string(variables.spec.replicas)"}},
		},
		"failing variable": {
			Variables:   []v1.Variable{{Name: "bad", Expression: failing}, {Name: "few", Expression: few}},
			Validations: validating("variables.few", "variables.bad"),
		},
		"failing variable that does not matter": {
			Variables:   []v1.Variable{{Name: "bad", Expression: failing}},
			Validations: validating(few+" || variables.bad", "true"),
		},
		"variable does not compile": {
			Variables:   []v1.Variable{{Name: "bad", Expression: invalid}},
			Validations: validating(few, "variables.bad == 1"),
		},
		"variable does not compile and is not read": {
			Variables:   []v1.Variable{{Name: "bad", Expression: invalid}},
			Validations: validating(few),
		},
		"variable of an unexpected type": {
			Variables:   []v1.Variable{{Name: "name", Expression: "'a'"}},
			Validations: validating("variables.name + 1 == 2", "variables.missing"),
		},
		"variables of many types": {
			Variables: []v1.Variable{
				{Name: "list", Expression: "['a', 'b']"}, {Name: "map", Expression: "{'a': [1]}"}, {Name: "size", Expression: "quantity('1Gi')"},
				{Name: "maybe", Expression: "object.?spec.?replicas"}, {Name: "now", Expression: "timestamp('2026-01-02T03:04:05Z')"},
				{Name: "user", Expression: "request.userInfo"}, {Name: "nothing", Expression: "null"},
			},
			Validations: validating(
				"variables.list.exists(s, s == 'a') && variables.map['a'][0] == 1 && variables.size.isGreaterThan(quantity('1'))",
				"variables.now.getFullYear() == 2026 && variables.nothing == null",
				"variables.maybe.orValue(0) <= 5",
				"variables.user.username == 'jane'",
			),
		},
		"variable asks authorizer": {
			Variables:   []v1.Variable{{Name: "may", Expression: "authorizer.requestResource.check('read').allowed()"}},
			Validations: []v1.Validation{{Expression: "!variables.may", MessageExpression: "string(variables.may)"}},
			AuditAnnotations: []v1.AuditAnnotation{
				{Key: "may", ValueExpression: "string(variables.may)"},
			},
		},
	}
}

func annotations() map[string]v1.ValidatingAdmissionPolicySpec {
	ignore := new(v1.Ignore)
	note := func(expressions ...string) []v1.AuditAnnotation {
		var result []v1.AuditAnnotation
		for i, expression := range expressions {
			result = append(result, v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: expression})
		}
		return result
	}
	return map[string]v1.ValidatingAdmissionPolicySpec{
		"annotation":                        {AuditAnnotations: note("'by ' + request.operation + ' '", "'two'")},
		"annotation and denial":             {AuditAnnotations: note("'noted'"), Validations: validating(few)},
		"null annotation":                   {AuditAnnotations: note("null", "'two'")},
		"sometimes annotation":              {AuditAnnotations: note("request.operation == 'CREATE' ? 'created' : ''")},
		"null or string annotation":         {AuditAnnotations: note("request.operation == 'CREATE' ? 'created' : null")},
		"blank annotation":                  {AuditAnnotations: note("' \\n'")},
		"failing annotation":                {AuditAnnotations: note("'one'", "string(object.missing)")},
		"failing annotation, ignored":       {FailurePolicy: ignore, AuditAnnotations: note("string(object.missing)", "'two'")},
		"failing annotation and denial":     {AuditAnnotations: note("string(object.missing)"), Validations: validating(few)},
		"annotation does not compile":       {AuditAnnotations: note("'one' +")},
		"annotation of another type":        {AuditAnnotations: note("1", "'two'")},
		"annotation of unknown type":        {AuditAnnotations: note("object.metadata.name")},
		"annotation asks authorizer":        {AuditAnnotations: note("authorizer.path('/').check('get').reason()")},
		"annotation too long":               {AuditAnnotations: note("'" + strings.Repeat("a", 10*1024+1) + "'")},
		"annotations of a non-met policy":   {AuditAnnotations: note("'one'"), MatchConditions: []v1.MatchCondition{{Name: "never", Expression: "false"}}},
		"annotation reads namespace":        {AuditAnnotations: note("namespaceObject == null ? 'none' : namespaceObject.metadata.name")},
		"annotation and failing validation": {AuditAnnotations: note("'one'"), Validations: validating(failing)},
	}
}

func constraints() map[string]v1.ValidatingAdmissionPolicySpec {
	ignore := new(v1.Ignore)
	never := validating("false")
	with := func(change func(*v1.MatchResources)) *v1.MatchResources {
		m := everything()
		change(m)
		return m
	}
	blue := &metav1.LabelSelector{MatchLabels: map[string]string{"name": "blue"}}
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "name", Operator: "Resembles"}}}
	legacy := matchResources(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
	noKind := matchResources(v1.Equivalent, rule("apps", "v1beta1", "deployments"))
	noType := matchResources(v1.Equivalent, rule("apps", "v9", "deployments"))
	return map[string]v1.ValidatingAdmissionPolicySpec{
		"one resource":                          {MatchConstraints: matchResources(v1.Exact, rule("apps", "v1", "deployments")), Validations: never},
		"other version, exact":                  {MatchConstraints: matchResources(v1.Exact, rule("extensions", "v1beta1", "deployments")), Validations: never},
		"other version":                         {MatchConstraints: legacy, Validations: []v1.Validation{{Expression: "has(object.spec.template) && object.spec.replicas > 100", MessageExpression: "object.apiVersion + ' ' + object.kind"}}},
		"other version without a kind":          {MatchConstraints: noKind, Validations: never},
		"other version without a kind, ignored": {MatchConstraints: noKind, FailurePolicy: ignore, Validations: never},
		"other version without a type":          {MatchConstraints: noType, Validations: never},
		"other version without a type, ignored": {MatchConstraints: noType, FailurePolicy: ignore, Validations: never},
		"all but deployments":                   {MatchConstraints: with(func(m *v1.MatchResources) { m.ExcludeResourceRules = legacy.ResourceRules }), Validations: never},
		"namespaces by label":                   {MatchConstraints: with(func(m *v1.MatchResources) { m.NamespaceSelector = blue }), Validations: never},
		"namespaces by label, ignored":          {MatchConstraints: with(func(m *v1.MatchResources) { m.NamespaceSelector = blue }), FailurePolicy: ignore, Validations: never},
		"invalid namespace selector":            {MatchConstraints: with(func(m *v1.MatchResources) { m.NamespaceSelector = bad }), Validations: never},
		"objects by label": {MatchConstraints: with(func(m *v1.MatchResources) {
			m.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
		}), Validations: never},
		"invalid object selector": {MatchConstraints: with(func(m *v1.MatchResources) { m.ObjectSelector = bad }), Validations: never},
		"cluster scope":           {MatchConstraints: with(func(m *v1.MatchResources) { m.ResourceRules[0].Scope = new(v1.ClusterScope) }), Validations: never},
		"by name":                 {MatchConstraints: with(func(m *v1.MatchResources) { m.ResourceRules[0].ResourceNames = []string{"web", "red"} }), Validations: never},
		"deletes":                 {MatchConstraints: with(func(m *v1.MatchResources) { m.ResourceRules[0].Operations = []v1.OperationType{v1.Delete} }), Validations: never},
	}
}

// inputs show what expressions read, as audit annotations.
func inputs() map[string]v1.ValidatingAdmissionPolicySpec {
	optional := func(path string) string { return fmt.Sprintf("string(%s.orValue('none'))", path) }
	result := map[string]v1.ValidatingAdmissionPolicySpec{}
	for name, expressions := range map[string][]string{
		"request": {
			"request.kind.group + '/' + request.kind.version + '/' + request.kind.kind",
			"request.resource.group + '/' + request.resource.version + '/' + request.resource.resource",
			"request.requestKind.group + '/' + request.requestKind.version + '/' + request.requestKind.kind",
			"request.requestResource.group + '/' + request.requestResource.resource + '/' + request.requestSubResource",
			"request.name + '/' + request.namespace + '/' + request.operation + '/' + request.subResource",
			"string(request.dryRun) + string(has(request.dryRun))",
		},
		"user": {
			"request.userInfo.username + '/' + request.userInfo.uid", "request.userInfo.groups.join(',')",
			"string(request.userInfo.extra.size())", "request.userInfo.extra['example.com/team'].join(',')",
		},
		"options": {
			"string(has(request.options))", "request.options == null ? 'null' : 'some'", optional("request.options.?kind"), optional("request.options.?apiVersion"),
			optional("request.options.?fieldManager"), optional("request.options.?propagationPolicy"), optional("request.options.?dryRun[?0]"),
		},
		"object": {
			"object == null ? 'null' : 'some'", optional("object.?kind"), optional("object.?apiVersion"), optional("object.?metadata.?name"), optional("object.?metadata.?generateName"),
			optional("object.?spec.?replicas"), optional("object.?metadata.?labels.?app"), "string(has(object.status))", "string(has(object.metadata.creationTimestamp))",
			"string(type(object.spec.replicas) == int)", "string(object.spec.size())", "string(object.spec.exists(k, k == 'replicas'))", optional("object.?command[?0]"),
			"string(object == object)", "string(object == oldObject)", "string(object.spec == oldObject.spec)", "string(object.spec.parts == ['a', 'b'])",
			"object.metadata.labels.map(k, k + object.metadata.labels[k]).join(',')", "string('app' in object.metadata.labels)",
		},
		"old object": {
			"oldObject == null ? 'null' : 'some'", optional("oldObject.?kind"), optional("oldObject.?apiVersion"), optional("oldObject.?metadata.?name"), optional("oldObject.?spec.?replicas"),
			"string(oldObject.spec.replicas < object.spec.replicas)",
		},
		"namespace object": {
			"namespaceObject == null ? 'null' : 'some'", "namespaceObject.metadata.name", "namespaceObject.metadata.labels.name", "namespaceObject.metadata.annotations['purpose']",
			"string(has(namespaceObject.metadata.finalizers))", "string(has(namespaceObject.status.phase)) + string(has(namespaceObject.spec.finalizers))",
		},
	} {
		// One that fails leaves the others alone.
		s := v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore)}
		for i, expression := range expressions {
			s.AuditAnnotations = append(s.AuditAnnotations, v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: expression})
			s.Validations = append(s.Validations, v1.Validation{Expression: "request.operation == ''", MessageExpression: expression})
		}
		result["reads "+name] = s
		slices.Reverse(s.Validations)
		s.MatchConstraints = matchResources(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
		result["reads "+name+" in another version"] = s
	}
	const check = "authorizer.requestResource.check('%s').%s"
	result["asks authorizer"] = v1.ValidatingAdmissionPolicySpec{Validations: validating(
		fmt.Sprintf(check, "read", "allowed()"),
		fmt.Sprintf(check, "read", "reason() == 'you may read'"),
		"!authorizer.group('apps').resource('deployments').namespace('blue').name('web').check('delete').allowed()",
		"authorizer.path('/healthz').check('get').allowed() && authorizer.serviceAccount('blue', 'robot').path('/').check('get').allowed()",
		fmt.Sprintf(check, "write", "allowed()"),
	)}
	return result
}

func budgets() map[string]v1.ValidatingAdmissionPolicySpec {
	ignore := new(v1.Ignore)
	// A search for a text in itself costs the square of a tenth of its length.
	costing := func(units int) v1.Variable {
		length := 10
		for length*length < units*100 {
			length += 10
		}
		return v1.Variable{Name: "text", Expression: "'" + strings.Repeat("a", length) + "'"}
	}
	const search = "variables.text.contains(variables.text)"
	times := func(n int) []v1.Validation { return slices.Repeat(validating(search), n) }
	condition := func(n int) (result []v1.MatchCondition) {
		for i := range n {
			result = append(result, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: search})
		}
		return result
	}
	expensive := []v1.Variable{costing(900_000)}
	withMessage := times(11)
	withMessage[0].MessageExpression = search + " ? 'one' : 'two'"
	withMessages := slices.Clone(withMessage)
	withMessages[1].MessageExpression = withMessage[0].MessageExpression
	withMessages = append(withMessages, validating("false")...)
	annotate := func(n int) (result []v1.AuditAnnotation) {
		for i := range n {
			result = append(result, v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: "string(" + search + ")"})
		}
		return result
	}
	return map[string]v1.ValidatingAdmissionPolicySpec{
		"expression costs too much":             {Variables: []v1.Variable{costing(1_100_000)}, Validations: times(1)},
		"validations cost just enough":          {Variables: expensive, Validations: times(11)},
		"validations cost too much":             {Variables: expensive, Validations: times(12)},
		"validations cost too much, ignored":    {Variables: expensive, FailurePolicy: ignore, Validations: append(times(12), validating("false")...)},
		"messages cost too much":                {Variables: expensive, Validations: withMessages},
		"messages cost too much, ignored":       {Variables: expensive, FailurePolicy: ignore, Validations: withMessages},
		"message costs too much after a denial": {Variables: expensive, Validations: slices.Concat(validating(few), withMessage)},
		"conditions cost just enough":           {Variables: expensive, MatchConditions: condition(2), Validations: validating(few)},
		"conditions cost too much":              {Variables: expensive, MatchConditions: condition(3), Validations: validating(few)},
		"conditions cost too much, ignored":     {Variables: expensive, FailurePolicy: ignore, MatchConditions: condition(3), Validations: validating("false")},
		"annotations cost too much":             {Variables: expensive, AuditAnnotations: annotate(12), Validations: validating(few)},
		"annotations cost too much, ignored":    {Variables: expensive, FailurePolicy: ignore, AuditAnnotations: annotate(12), Validations: validating(few)},
		"each kind has a budget of its own":     {Variables: expensive, MatchConditions: condition(2), AuditAnnotations: annotate(11), Validations: times(11)},
	}
}

// bindings are situations that differ in how the same policies are bound.
func bindings() map[string]situation {
	const name = "policy.example.com"
	narrowed := func(m *v1.MatchResources, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
		b := bindingOf("narrow.example.com", name, actions...)
		b.Spec.MatchResources = m
		return b
	}
	byLabel := func(key, value string) *v1.MatchResources {
		m := matchResources(v1.Equivalent)
		m.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
		return m
	}
	one := func(spec v1.ValidatingAdmissionPolicySpec, bindings ...*v1.ValidatingAdmissionPolicyBinding) situation {
		return situation{spec: spec, bindings: bindings}
	}
	fewReplicas := v1.ValidatingAdmissionPolicySpec{
		Validations:      []v1.Validation{{Expression: few}, {Expression: failing}, {Expression: invalid}, {Expression: "false", Message: "<no> & \"never\""}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "key", ValueExpression: "'noted'"}},
	}
	ignoring := fewReplicas
	ignoring.FailurePolicy = new(v1.Ignore)
	many := v1.ValidatingAdmissionPolicySpec{Validations: slices.Repeat(validating("false"), 60)}
	broken := v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "key", ValueExpression: "string(object.missing)"}}}
	return map[string]situation{
		"warn":                         one(fewReplicas, bindingOf("b", name, v1.Warn)),
		"warn, ignoring errors":        one(ignoring, bindingOf("b", name, v1.Warn)),
		"audit":                        one(fewReplicas, bindingOf("b", name, v1.Audit)),
		"audit, ignoring errors":       one(ignoring, bindingOf("b", name, v1.Audit)),
		"audit and warn":               one(fewReplicas, bindingOf("b", name, v1.Audit, v1.Warn)),
		"deny and audit":               one(fewReplicas, bindingOf("b", name, v1.Deny, v1.Audit)),
		"warn and deny":                one(fewReplicas, bindingOf("b", name, v1.Warn, v1.Deny)),
		"no action":                    one(fewReplicas, bindingOf("b", name)),
		"audit of many failures":       one(many, bindingOf("b", name, v1.Audit)),
		"warn of a failing annotation": one(broken, bindingOf("b", name, v1.Warn)),
		"warn of a misconfiguration": one(v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: matchResources(v1.Equivalent, rule("apps", "v9", "deployments"))}, bindingOf("b", name, v1.Warn)),
		"bound in one namespace":             one(fewReplicas, narrowed(byLabel("name", "blue"), v1.Deny)),
		"bound in no namespace":              one(fewReplicas, narrowed(byLabel("name", "green"), v1.Deny)),
		"bound for one resource":             one(fewReplicas, narrowed(matchResources(v1.Exact, rule("apps", "v1", "deployments")), v1.Deny)),
		"bound for another version":          one(fewReplicas, narrowed(matchResources(v1.Equivalent, rule("extensions", "v1beta1", "deployments")), v1.Deny)),
		"bound for a version without a kind": one(fewReplicas, narrowed(matchResources(v1.Equivalent, rule("apps", "v1beta1", "deployments")), v1.Deny)),
		"the same, ignored":                  one(ignoring, narrowed(matchResources(v1.Equivalent, rule("apps", "v1beta1", "deployments")), v1.Deny)),
		"denied by one of two bindings":      one(fewReplicas, narrowed(byLabel("name", "blue"), v1.Deny), bindingOf("b", name)),
		"warned by one, audited by the other": one(fewReplicas,
			narrowed(byLabel("name", "blue"), v1.Audit), bindingOf("b", name, v1.Warn)),
		"bound to nothing": one(fewReplicas, bindingOf("b", "other.example.com", v1.Deny)),
	}
}
