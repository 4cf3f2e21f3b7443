// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"celador.io/offline/audit"
)

// A ReportsAPI is an API group whose objects hold the reports of policy engines. The objects of the
// two known groups have the same fields, except that a report has a field source in only one of
// them.
type ReportsAPI struct {
	version              schema.GroupVersion
	kind, namespacedKind string
	// source is set if reports of the API have a field source. The results in a report have such a
	// field in both APIs.
	source bool
}

// ReportsAPIs are the known APIs. A key is the name of the audit format that writes objects of the
// API.
var ReportsAPIs = map[string]*ReportsAPI{
	"openreports": {schema.GroupVersion{Group: "openreports.io", Version: "v1alpha1"}, "ClusterReport", "Report", true},
	"wgpolicy":    {schema.GroupVersion{Group: "wgpolicyk8s.io", Version: "v1alpha2"}, "ClusterPolicyReport", "PolicyReport", false},
}

// ReportName is the name of the reports of an audit in each namespace.
const ReportName = "celador-audit"

// source is the value of the fields source, which name the engine that made a report or a result.
const source = "celador"

// The fields of a report (https://openreports.io).
type (
	openSummary struct {
		Pass  int `json:"pass"`
		Fail  int `json:"fail"`
		Warn  int `json:"warn"`
		Error int `json:"error"`
		Skip  int `json:"skip"`
	}
	openResult struct {
		Source     string                   `json:"source"`
		Policy     string                   `json:"policy"`
		Rule       string                   `json:"rule,omitempty"`
		Result     string                   `json:"result"`
		Scored     bool                     `json:"scored"`
		Message    string                   `json:"message,omitempty"`
		Timestamp  metav1.Timestamp         `json:"timestamp"`
		Resources  []corev1.ObjectReference `json:"resources,omitempty"`
		Properties map[string]string        `json:"properties,omitempty"`
	}
	openReport struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Source            string       `json:"source,omitempty"`
		Summary           openSummary  `json:"summary"`
		Results           []openResult `json:"results,omitempty"`
	}
)

// ReportLabels is a label selector for the reports that audits write. Other policy engines may have
// reports of the same kinds in the cluster.
const ReportLabels = managedBy + "=" + ReportName

const managedBy = "app.kubernetes.io/managed-by"

// Kinds returns the kinds of the objects of the API.
func (api *ReportsAPI) Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{api.version.WithKind(api.kind), api.version.WithKind(api.namespacedKind)}
}

// Objects returns the report of an audit as objects of the API: one for each namespace with objects
// that policies match, and one for objects without a namespace. Objects that pass are only counted.
// Policies that were not evaluated are results "skip" of the report without a namespace.
func (api *ReportsAPI) Objects(report *audit.Report, now time.Time) ([]*unstructured.Unstructured, error) {
	at := metav1.Timestamp{Seconds: now.Unix(), Nanos: int32(now.Nanosecond())}
	reports := map[string]*openReport{"": api.report("")}
	for namespace, counts := range report.Namespaces {
		r := api.report(namespace)
		r.Summary = openSummary{Pass: counts.Passed, Fail: counts.Violated, Error: counts.Failed}
		reports[namespace] = r
	}
	whole := reports[""]
	for _, p := range report.Policies {
		if p.NotAuditable != "" {
			whole.Summary.Skip++
			whole.Results = append(whole.Results, openResult{Source: source, Policy: p.Name, Result: "skip", Message: p.NotAuditable, Timestamp: at})
		}
		for _, f := range p.Violations {
			r := reports[f.Object.Namespace]
			r.Results = append(r.Results, newOpenResult(p, f, at))
		}
	}
	for _, u := range report.Unevaluated {
		r := reports[u.Object.Namespace]
		if r == nil {
			r = api.report(u.Object.Namespace)
			reports[u.Object.Namespace] = r
		}
		r.Summary.Error++
		r.Results = append(r.Results, openResult{
			Source: source, Policy: "*", Result: "error", Message: u.Err.Error(), Timestamp: at, Resources: []corev1.ObjectReference{objectReference(&u.Object)},
		})
	}
	for _, err := range report.Unread {
		whole.Summary.Error++
		whole.Results = append(whole.Results, openResult{Source: source, Policy: "*", Result: "error", Message: err.Error(), Timestamp: at})
	}
	var objects []*unstructured.Unstructured
	for _, namespace := range slices.Sorted(maps.Keys(reports)) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(reports[namespace])
		if err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects, nil
}

// report returns an empty report of a namespace, or of objects without one.
func (api *ReportsAPI) report(namespace string) *openReport {
	r := &openReport{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.version.String(), Kind: api.namespacedKind},
		ObjectMeta: metav1.ObjectMeta{Name: ReportName, Namespace: namespace, Labels: map[string]string{managedBy: ReportName}},
	}
	if namespace == "" {
		r.Kind = api.kind
	}
	if api.source {
		r.Source = source
	}
	return r
}

func newOpenResult(p audit.PolicyResult, f audit.Violation, at metav1.Timestamp) openResult {
	r := openResult{
		Source: source, Policy: p.Name, Result: "fail", Scored: true, Message: f.Message, Timestamp: at,
		Resources: []corev1.ObjectReference{objectReference(&f.Object)}, Properties: map[string]string{},
	}
	if f.Field != "" {
		r.Properties["field"] = f.Field
	}
	if f.Index >= 0 {
		r.Rule = fmt.Sprintf("validations[%d]", f.Index)
	}
	if result(f) != "Violated" {
		r.Result = "error"
	}
	if p.Binding != "" {
		r.Properties["binding"], r.Properties["validationActions"] = p.Binding, joinActions(p.Actions)
	}
	return r
}

func objectReference(r *audit.Reference) corev1.ObjectReference {
	version, kind := r.ToAPIVersionAndKind()
	return corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

// write writes the objects of the API as YAML documents.
func (api *ReportsAPI) write(w io.Writer, report *audit.Report) error {
	objects, err := api.Objects(report, time.Now())
	if err != nil {
		return err
	}
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}
