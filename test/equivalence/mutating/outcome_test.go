// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"celador.io/celador/test/equivalence/harness"
)

// outcome holds the effects of a request that clients and dashboards see.
type outcome struct {
	// Rounds are the calls of the plugin: one, or two if it or another plugin changed the object.
	Rounds []round
	// Observed are the metrics that the plugin recorded.
	Observed harness.Counts
}

// round is the result of one call of the plugin.
type round struct {
	Error  string
	Status metav1.Status // of the error
	// Object is the JSON of the resulting object.
	Object string
	// Again reports whether the plugin requested reinvocation.
	Again bool
}

// last returns the last round.
func (o outcome) last() round { return o.Rounds[len(o.Rounds)-1] }

// examine calls a plugin as an API server does, a second time if reinvocation is necessary.
func (c *cluster) examine(t *testing.T, plugin admission.MutationInterface, r request) outcome {
	t.Helper()
	a := r.Attributes()
	if !plugin.Handles(a.GetOperation()) {
		return outcome{Rounds: []round{{Object: encode(t, r, a.GetObject())}}}
	}
	again := a.GetReinvocationContext()
	result := outcome{Rounds: []round{admit(t, plugin, r, a)}}
	if result.last().Error == "" {
		if r.Touch != nil {
			again.SetShouldReinvoke()
			r.Touch(a.GetObject())
		}
		if again.ShouldReinvoke() {
			again.SetIsReinvoke()
			result.Rounds = append(result.Rounds, admit(t, plugin, r, a))
		}
	}
	now := compared.Read(t)
	result.Observed, c.observed = now.Since(c.observed), now
	return result
}

func admit(t *testing.T, plugin admission.MutationInterface, r request, a admission.Attributes) (result round) {
	t.Helper()
	err := harness.Catch(func() error { return plugin.Admit(t.Context(), a, harness.Interfaces) })
	if err != nil {
		result.Error = comparableText(err.Error())
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		result.Status = *status.ErrStatus.DeepCopy()
		result.Status.Message = comparableText(result.Status.Message)
		if result.Status.Details != nil {
			for i := range result.Status.Details.Causes {
				result.Status.Details.Causes[i].Message = comparableText(result.Status.Details.Causes[i].Message)
			}
		}
	}
	result.Object = encode(t, r, a.GetObject())
	// An error ends the request.
	result.Again = err == nil && a.GetReinvocationContext().ShouldReinvoke()
	return result
}

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// comparableText returns the text of an error without the addresses of Go values, which errors
// about values without JSON contain. It sorts the lines of a list of errors, whose order
// depends on map iteration.
func comparableText(text string) string {
	lines := strings.Split(address.ReplaceAllString(text, "0x"), "\n  ")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n  ")
}

// encode returns the JSON of an object in the version of the request.
func encode(t *testing.T, r request, object runtime.Object) string {
	t.Helper()
	if _, custom := object.(*unstructured.Unstructured); object != nil && !custom {
		converted, err := legacyscheme.Scheme.ConvertToVersion(object, r.Kind.GroupVersion())
		must(t, err)
		object = converted
	}
	text, err := json.Marshal(object)
	if custom, ok := object.(*unstructured.Unstructured); ok && err != nil {
		// Policies may set numbers that JSON cannot represent.
		return fmt.Sprint(custom.Object)
	}
	if err != nil {
		return err.Error() // an object with parts that have no JSON
	}
	return string(text)
}

// brief returns the error without the prefix that names the usual policy and binding.
func (r round) brief() string {
	text := strings.TrimPrefix(r.Error, "policy '"+usualPolicy+"' with binding '"+usualBinding+"' denied request: ")
	text = strings.TrimPrefix(text, "policy \""+usualPolicy+"\" denied request: ")
	if r.Error != "" && r.Status.Reason != metav1.StatusReasonInvalid {
		text = fmt.Sprintf("(%s %d) %s", r.Status.Reason, r.Status.Code, text)
	}
	return text
}

// text returns the errors of all rounds.
func (o outcome) text() string {
	var texts []string
	for _, r := range o.Rounds {
		texts = append(texts, r.Error)
		if r.Status.Details != nil {
			for _, cause := range r.Status.Details.Causes {
				texts = append(texts, cause.Message)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// mistaken reports whether an apply configuration could not be applied.
func (o outcome) mistaken() bool { return strings.Contains(o.text(), "error applying patch: ") }

// panicked reports whether the plugin panicked.
func (o outcome) panicked() bool { return strings.Contains(o.text(), "panic: ") }
