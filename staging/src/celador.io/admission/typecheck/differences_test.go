// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TestUnlikeUpstream covers the expressions for which Kubernetes' findings are incorrect: it warns
// about an expression that works, or does not warn about one that fails for every object. The test
// evaluates each expression to prove it.
func TestUnlikeUpstream(t *testing.T) {
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{
		"ratio":        *spec.Float64Property(),
		"free":         extended(objectOf(map[string]spec.Schema{"size": *spec.Int64Property()}), "x-kubernetes-preserve-unknown-fields"),
		"untyped":      extended(&spec.Schema{}, "x-kubernetes-preserve-unknown-fields"),
		"bare":         *objectOf(nil),
		"any":          {SchemaProps: spec.SchemaProps{Type: []string{"object"}, AdditionalProperties: &spec.SchemaOrBool{Allows: true}}},
		"list":         {SchemaProps: spec.SchemaProps{Type: []string{"array"}}},
		"union":        {SchemaProps: spec.SchemaProps{Type: []string{"integer", "string"}}},
		"ref":          *spec.RefProperty("#/definitions/elsewhere"),
		"both":         {SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{"size": *spec.Int64Property()}, AdditionalProperties: &spec.SchemaOrBool{Allows: true, Schema: spec.StringProperty()}}},
		"byName":       *spec.MapProperty(objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})),
		"byColor":      *spec.MapProperty(objectOf(map[string]spec.Schema{"color": *spec.StringProperty()})),
		"embedded":     extended(objectOf(map[string]spec.Schema{"metadata": *objectOf(nil)}), "x-kubernetes-embedded-resource"),
		"nullableSize": nullable(spec.Int64Property()),
		"nullableName": {SchemaProps: spec.SchemaProps{Type: []string{"string", "null"}}},
		"nullableList": nullable(spec.ArrayProperty(spec.StringProperty())),
		"nullableMap":  nullable(spec.MapProperty(spec.StringProperty())),
		"period":       *spec.StrFmtProperty("duration"),
		"day":          *spec.DateProperty(),
		"dashed-name":  *spec.StringProperty(),
	}))
	restricted := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Restricted"}
	described = described.with(restricted, objectOf(map[string]spec.Schema{"metadata": *objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})}))
	mapper := mapperFor(deployment, secret, widget, restricted)
	container := corev1.Container{Name: "c", Image: "i"}
	container.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", CreationTimestamp: metav1.Now()}}
	object.Spec.Replicas = new(int32(1))
	object.Spec.Template.Spec = corev1.PodSpec{
		Containers:          []corev1.Container{container},
		InitContainers:      []corev1.Container{container},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Image: "i"}}},
	}
	custom := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "labels": map[string]any{"a": "b"}},
		"spec": map[string]any{
			"ratio": int64(1), "free": map[string]any{"size": int64(1), "color": "red"}, "untyped": "u", "bare": map[string]any{"a": int64(1)},
			"any": map[string]any{"a": int64(1)}, "list": []any{int64(1)}, "union": "u", "ref": map[string]any{"a": int64(1)},
			"byName": map[string]any{"a": map[string]any{"name": "a"}}, "byColor": map[string]any{"red": map[string]any{"color": "red"}},
			"both":         map[string]any{"size": int64(1), "color": "red"},
			"embedded":     map[string]any{"kind": "Part", "metadata": map[string]any{"labels": map[string]any{"a": "b"}}},
			"nullableSize": nil, "nullableName": nil, "nullableList": nil, "nullableMap": nil,
			"period": "1h", "day": "2026-01-01", "dashed-name": "n",
		},
	}
	widgets := rule("example.com", "v1", "widgets")
	const template = "object.spec.template.spec"
	for name, test := range map[string]struct {
		object any
		policy *v1.ValidatingAdmissionPolicy
	}{
		// Types of values.
		"time as string":              {object, policy("object.metadata.creationTimestamp.startsWith('2')")},
		"time as timestamp":           {object, policy("object.metadata.creationTimestamp < timestamp('2100-01-01T00:00:00Z')")},
		"time, method":                {object, policy("object.metadata.creationTimestamp.getFullYear() > 2000")},
		"bytes as string":             {&corev1.Secret{Data: map[string][]byte{"a": []byte("x")}}, policy("object.data.a.startsWith('eA')", rule("", "v1", "secrets"))},
		"duration as string":          {custom, policy("duration(object.spec.period) > duration('1m') && object.spec.period == '1h'", widgets)},
		"duration as duration":        {custom, policy("object.spec.period > duration('1m')", widgets)},
		"date as string":              {custom, policy("object.spec.day == '2026-01-01'", widgets)},
		"number without fraction":     {custom, policy("object.spec.ratio == 1 && object.spec.ratio + 1 == 2", widgets)},
		"quantity":                    {object, policy("quantity(" + template + ".containers[0].resources.limits['cpu']).isGreaterThan(quantity('100m'))")},
		"authorizer.requestResource":  {object, policy("authorizer.requestResource.check('get').allowed()")},
		"null integer":                {custom, policy("object.spec.nullableSize == null || object.spec.nullableSize + 1 > 1", widgets)},
		"null string":                 {custom, policy("object.spec.nullableName == null || object.spec.nullableName.size() > 1", widgets)},
		"null list":                   {custom, policy("object.spec.nullableList == null || object.spec.nullableList.all(a, a == '')", widgets)},
		"null map":                    {custom, policy("object.spec.nullableMap == null || object.spec.nullableMap.a == ''", widgets)},
		"metadata of custom resource": {custom, policy("object.metadata.labels.a == 'b'", widgets)},
		"restricted metadata":         {custom, policy("object.metadata.labels.a == 'b' && object.metadata.name == 'w'", rule("example.com", "v1", "restricteds"))},
		"quoted name":                 {custom, policy("object.spec.`dashed-name` == 'n'", widgets)},

		"escaped name":    {custom, policy("object.spec.dashed__dash__name == 'n'", widgets)},
		"escaped keyword": {object, policy("object.metadata.__namespace__ == 'a'")},
		"escaped key":     {object, policy("object.metadata.labels.a__dash__b == 'b'")},

		// Incomplete schemas.
		"unknown fields":               {custom, policy("object.spec.free.color == 'red'", widgets)},
		"without type":                 {custom, policy("object.spec.untyped == 'u'", widgets)},
		"object without properties":    {custom, policy("object.spec.bare.a == 1", widgets)},
		"object with any properties":   {custom, policy("object.spec.any.a == 1", widgets)},
		"list without items":           {custom, policy("object.spec.list[0] == 1", widgets)},
		"several types":                {custom, policy("object.spec.union == 'u'", widgets)},
		"reference":                    {custom, policy("object.spec.ref.a == 1", widgets)},
		"properties and others":        {custom, policy("object.spec.both.size == 1 && object.spec.both.color == 'red'", widgets)},
		"metadata of embedded objects": {custom, policy("object.spec.embedded.metadata.labels.a == 'b' && object.spec.embedded.kind == 'Part'", widgets)},
		"managed fields":               {object, policy("!has(object.metadata.managedFields) || object.metadata.managedFields.all(f, f.fieldsV1['f:spec'] == {})")},

		// Objects as maps.
		"containers of one type":     {object, policy("(" + template + ".containers + " + template + ".initContainers).all(c, c.image != '')")},
		"containers of all types":    {object, policy("(" + template + ".containers + " + template + ".initContainers + " + template + ".ephemeralContainers).all(c, c.image != '')")},
		"literal of lists":           {object, policy("[" + template + ".containers, " + template + ".ephemeralContainers].all(l, l.all(c, c.image != ''))")},
		"literal map of objects":     {object, policy("{'a': object.spec, 'b': object.metadata}.a.replicas == 1")},
		"object or empty":            {object, policy("(has(" + template + ".securityContext) ? " + template + ".securityContext : {}) == {}")},
		"optional object or empty":   {object, policy(template + ".?securityContext.orValue({}) == {}")},
		"object or another":          {object, policy("(has(object.spec.template) ? object.spec.template.spec : object.spec).containers.size() == 1")},
		"objects of two types":       {object, policy("object.spec != object.metadata")},
		"size of an object":          {object, policy("object.spec.size() > 1")},
		"key of an object":           {object, policy("'replicas' in object.spec && object.spec['replicas'] == 1")},
		"keys of an object":          {object, policy("object.spec.exists(k, k == 'replicas')")},
		"object in a list of others": {object, policy("!(object.metadata in " + template + ".containers)")},
		"maps of two types":          {custom, policy("(has(object.spec.byName) ? object.spec.byName : object.spec.byColor).all(k, k == 'a')", widgets)},
		"params of the same kind":    {custom, policy("object.spec != params.spec", widgets, params("example.com/v1", "Widget"))},
		"or null":                    {object, policy("(has(object.spec.replicas) ? object.spec.replicas : null) == 1")},
		"or optional null":           {object, policy("object.spec.?replicas.orValue(null) == 1")},

		// Variables with object types.
		"variable with an object":    {object, policy("variables.v.nothing == 1", variables("v", "object.spec"))},
		"variable with a list":       {object, policy("variables.v.all(c, c.imagee != '')", variables("v", template+".containers"))},
		"variable that is not there": {object, policy("variables.v.w == 1", variables("v", template+".containers[0].resources"))},
	} {
		t.Run(name, func(t *testing.T) {
			fails := evaluate(t, test.policy, test.object, map[string]any{"spec": nil})
			got := checker(t, mapper, described).CheckValidating(test.policy).Warnings()
			want := upstreamWarnings(t, mapper, described, test.policy)
			if (fails != nil) != (len(got) > 0) {
				t.Errorf("evaluates to error %v, but warnings are %v", fails, got)
			}
			if (len(want) > 0) == (len(got) > 0) {
				t.Errorf("no difference: Kubernetes has the warnings %v", want)
			}
		})
	}
}
