// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/celador/test/equivalence/harness"
)

// outcome holds the effects of a request that webhooks, clients and administrators see.
type outcome struct {
	// Calls are in the order of the calls, or in the order of the scenario if a plugin calls
	// webhooks concurrently.
	Calls    []call
	Error    string
	Status   metav1.Status // of the error
	Warnings []string
	// Annotations map the keys of audit annotations to values and levels.
	Annotations map[string]string
	// Object is the JSON of the resulting object.
	Object string
	// Again reports whether a plugin requested reinvocation.
	Again bool
}

// uid matches the random UID of a review, which some errors contain.
var uid = regexp.MustCompile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

// examine calls a plugin as an API server does.
func (p subject) examine(t *testing.T, in step, r request) outcome {
	t.Helper()
	p.take()
	notes := &notes{Attributes: r.Attributes(), values: map[string]string{}}
	var warnings recorder
	ctx := warning.WithWarningRecorder(t.Context(), &warnings)
	ctx, cancel := r.Context(ctx)
	defer cancel()
	err := harness.Catch(func() error { return p.run(ctx, in, r, notes) })

	result := outcome{Calls: p.take(), Warnings: warnings.texts, Annotations: notes.values, Again: notes.GetReinvocationContext().ShouldReinvoke()}
	if in == validate {
		slices.SortStableFunc(result.Calls, func(a, b call) int { return strings.Compare(a.Of, b.Of) })
	}
	if err != nil {
		result.Error = uid.ReplaceAllString(err.Error(), "UID")
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		text, err := json.Marshal(status.ErrStatus)
		must(t, err)
		must(t, json.Unmarshal(uid.ReplaceAll(text, []byte("UID")), &result.Status))
	}
	object, err := json.Marshal(notes.GetObject())
	must(t, err)
	result.Object = string(object)
	return result
}

// run calls the plugin, a second time if reinvocation is necessary.
func (p subject) run(ctx context.Context, in step, r request, a admission.Attributes) error {
	if !p.Handles(a.GetOperation()) {
		return nil
	}
	if in == validate {
		return p.Interface.(admission.ValidationInterface).Validate(ctx, a, harness.Interfaces)
	}
	plugin := p.Interface.(admission.MutationInterface)
	if err := plugin.Admit(ctx, a, harness.Interfaces); err != nil {
		return err
	}
	again := a.GetReinvocationContext()
	if r.Touch != nil {
		again.SetShouldReinvoke()
		r.Touch(a.GetObject())
	}
	if !again.ShouldReinvoke() {
		return nil
	}
	again.SetIsReinvoke()
	return plugin.Admit(ctx, a, harness.Interfaces)
}

// notes are attributes that record audit annotations with their levels.
type notes struct {
	admission.Attributes
	lock   sync.Mutex
	values map[string]string
}

// AddAnnotation implements admission.Attributes.
func (n *notes) AddAnnotation(key, value string) error {
	return n.AddAnnotationWithLevel(key, value, auditinternal.LevelMetadata)
}

// AddAnnotationWithLevel implements admission.Attributes.
func (n *notes) AddAnnotationWithLevel(key, value string, level auditinternal.Level) error {
	n.lock.Lock()
	defer n.lock.Unlock()
	if err := n.Attributes.AddAnnotationWithLevel(key, value, level); err != nil {
		return err
	}
	n.values[key] = fmt.Sprintf("%s (%s)", value, level)
	return nil
}

// recorder implements warning.Recorder.
type recorder struct {
	lock  sync.Mutex
	texts []string
}

func (r *recorder) AddWarning(_, text string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.texts = append(r.texts, text)
}

// brief returns the outcome as examples list it: a line with the names of the called webhooks,
// and a line for the error and for each warning and annotation. It omits annotations about
// mutations.
func (o outcome) brief(s scenario) []string {
	var result, asked []string
	for _, c := range o.Calls {
		var place int
		if _, err := fmt.Sscan(c.Of, &place); err != nil || place >= len(s) {
			asked = append(asked, c.Of)
			continue
		}
		asked = append(asked, strings.TrimSuffix(s[place].Name, ".example.com"))
	}
	if asked != nil {
		result = append(result, "asks "+strings.Join(asked, ", "))
	}
	if o.Error != "" {
		result = append(result, fmt.Sprintf("refused (%s %d): %s", o.Status.Reason, o.Status.Code, o.Error))
	}
	for _, text := range o.Warnings {
		result = append(result, "warned: "+text)
	}
	for key, value := range o.Annotations {
		if !strings.HasPrefix(key, "mutation.webhook.") && !strings.HasPrefix(key, "patch.webhook.") {
			result = append(result, "noted "+key+"="+value)
		}
	}
	slices.Sort(result)
	return result
}

// changed reports whether webhooks changed the object.
func (o outcome) changed(object runtime.Object) bool {
	before, err := json.Marshal(object)
	return err != nil || string(before) != o.Object
}
