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

	"celador.io/celador/test/equivalence/served"
)

// outcome is what clients and administrators get to see of a request.
type outcome struct {
	// Rounds are what the plugin does: once, or twice when it or another plugin changed
	// something.
	Rounds []round
	// Observed are observations of metrics.
	Observed map[string]float64
}

// round is what one call of the plugin does.
type round struct {
	Error  string
	Status metav1.Status // of the error
	// Object is what becomes of it, in JSON.
	Object string
	// Again says whether plugins are to run a second time.
	Again bool
}

// last is the round that decides.
func (o outcome) last() round { return o.Rounds[len(o.Rounds)-1] }

// examine has a plugin change the object of a request, as a server does.
func (c *cluster) examine(t *testing.T, plugin admission.MutationInterface, r request) outcome {
	t.Helper()
	a := r.attributes()
	if !plugin.Handles(a.GetOperation()) {
		return outcome{Rounds: []round{{Object: encode(t, r, a.GetObject())}}}
	}
	again := a.GetReinvocationContext()
	result := outcome{Rounds: []round{admit(t, plugin, r, a)}}
	if result.last().Error == "" {
		if r.touch != nil {
			again.SetShouldReinvoke()
			r.touch(a.GetObject())
		}
		if again.ShouldReinvoke() {
			again.SetIsReinvoke()
			result.Rounds = append(result.Rounds, admit(t, plugin, r, a))
		}
	}
	now := counts(t)
	result.Observed, c.observed = since(c.observed, now), now
	return result
}

func admit(t *testing.T, plugin admission.MutationInterface, r request, a admission.Attributes) (result round) {
	t.Helper()
	err := call(t, plugin, a)
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

// call returns the error of the plugin. A panic is one.
func call(t *testing.T, plugin admission.MutationInterface, a admission.Attributes) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return plugin.Admit(t.Context(), a, served.Interfaces)
}

// encode returns the JSON of an object in the version of the request.
func encode(t *testing.T, r request, object runtime.Object) string {
	t.Helper()
	if _, custom := object.(*unstructured.Unstructured); object != nil && !custom {
		converted, err := legacyscheme.Scheme.ConvertToVersion(object, r.kind.GroupVersion())
		must(t, err)
		object = converted
	}
	text, err := json.Marshal(object)
	if custom, ok := object.(*unstructured.Unstructured); ok && err != nil {
		// Policies may set numbers that JSON does not have.
		return fmt.Sprint(custom.Object)
	}
	if err != nil {
		return err.Error() // an object with parts that have no JSON
	}
	return string(text)
}

// brief returns the error without what all errors of the usual policy say.
func (r round) brief() string {
	text := strings.TrimPrefix(r.Error, "policy '"+usualPolicy+"' with binding '"+usualBinding+"' denied request: ")
	text = strings.TrimPrefix(text, "policy \""+usualPolicy+"\" denied request: ")
	if r.Error != "" && r.Status.Reason != metav1.StatusReasonInvalid {
		text = fmt.Sprintf("(%s %d) %s", r.Status.Reason, r.Status.Code, text)
	}
	return text
}

// text returns all errors.
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

// mistaken says whether there is a mistake in an apply configuration.
func (o outcome) mistaken() bool { return strings.Contains(o.text(), "error applying patch: ") }

// panicked reports whether the plugin panicked.
func (o outcome) panicked() bool { return strings.Contains(o.text(), "panic: ") }
