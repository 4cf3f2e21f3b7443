// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package clients_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	apiv1 "celador.io/api/apiextensions/v1"
	v1 "celador.io/client-go/applyconfigurations/apiextensions/v1"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

// Fake clients merge custom resource definitions as the server does, Celador's fields included:
// versions are replaced as a whole, conditions are merged by type.
func TestFakeDefinitions(t *testing.T) {
	client := fake.NewClientset().ApiextensionsV1().CustomResourceDefinitions()
	definition := func() *v1.CustomResourceDefinitionApplyConfiguration {
		return v1.CustomResourceDefinition("widgets.example.com")
	}
	schema := v1.JSONSchemaProps().WithXDefault(v1.DefaultRule().WithRule("self.name").WithField("title"))
	spec := v1.CustomResourceDefinitionSpec().WithGroup("example.com").
		WithVersions(v1.CustomResourceDefinitionVersion().WithName("v1").WithSchema(v1.CustomResourceValidation().WithOpenAPIV3Schema(schema)))
	conversion := v1.CustomResourceDefinitionSpec().WithConversion(v1.CustomResourceConversion().WithStrategy(apiv1.ConversionRules).
		WithConverters(v1.Converter().WithFromVersion("v1").WithToVersion("v2").WithRules(v1.ConversionRule().WithField("spec").WithRule("self"))))
	for manager, part := range map[string]*v1.CustomResourceDefinitionSpecApplyConfiguration{"author": spec, "converter": conversion} {
		if _, err := client.Apply(t.Context(), definition().WithSpec(part), metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	for manager, condition := range map[string]apiv1.CustomResourceDefinitionConditionType{"names": apiv1.NamesAccepted, "establishing": apiv1.Established} {
		status := v1.CustomResourceDefinitionStatus().
			WithConditions(v1.CustomResourceDefinitionCondition().WithType(condition).WithStatus(apiv1.ConditionTrue))
		if _, err := client.ApplyStatus(t.Context(), definition().WithStatus(status), metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := client.Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got.Status.StoredVersions = []string{"v1"}
	if got, err = client.UpdateStatus(t.Context(), got, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if rules := got.Spec.Versions[0].Schema.OpenAPIV3Schema.XDefault; len(rules) != 1 || rules[0] != (apiv1.DefaultRule{Rule: "self.name", Field: "title"}) {
		t.Errorf("default rules are %+v", rules)
	}
	if converters := got.Spec.Conversion.Converters; len(converters) != 1 || converters[0].ToVersion != "v2" || len(converters[0].Rules) != 1 {
		t.Errorf("converters are %+v", converters)
	}
	if status := got.Status; len(status.Conditions) != 2 || len(status.StoredVersions) != 1 {
		t.Errorf("status is %+v, want what was applied and updated", status)
	}
	own, err := v1.ExtractCustomResourceDefinition(got, "converter")
	if err != nil {
		t.Fatal(err)
	}
	if own.Spec == nil || len(own.Spec.Conversion.Converters) != 1 || own.Spec.Group != nil {
		t.Errorf("extracted %+v, want what the manager has applied", own.Spec)
	}
}

// Informers and listers have custom resource definitions.
func TestDefinitionLister(t *testing.T) {
	client := fake.NewClientset(&apiv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}})
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Apiextensions().V1().CustomResourceDefinitions().Lister()
	factory.Start(t.Context().Done())
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Fatalf("%s did not sync", kind)
		}
	}
	if _, err := lister.Get("widgets.example.com"); err != nil {
		t.Error(err)
	}
	if all, err := lister.List(labels.Everything()); err != nil || len(all) != 1 {
		t.Errorf("listed %v, %v", all, err)
	}
}
