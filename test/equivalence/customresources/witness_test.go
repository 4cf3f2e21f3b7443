// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/audit"
)

// witnessed is the prefix of the audit IDs whose requests a witness records. The servers' own
// controllers send requests, too.
const witnessed = "equivalence-"

// A witness is an admission plugin that admits all requests and records their attributes by the
// audit ID of the request. It is safe for concurrent use.
type witness struct {
	lock sync.Mutex
	// seen holds the attributes of the last attempt for each object, by audit ID and phase. A write
	// whose cached object turned out to be stale calls admission again, at times that differ from
	// run to run.
	seen map[string]map[string]string
}

var (
	_ admission.MutationInterface   = &witness{}
	_ admission.ValidationInterface = &witness{}
)

// Handles implements admission.Interface.
func (w *witness) Handles(admission.Operation) bool { return true }

// Admit implements admission.MutationInterface.
func (w *witness) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	w.record(ctx, "mutating", a, o)
	return nil
}

// Validate implements admission.ValidationInterface.
func (w *witness) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	w.record(ctx, "validating", a, o)
	return nil
}

func (w *witness) record(ctx context.Context, phase string, a admission.Attributes, interfaces admission.ObjectInterfaces) {
	id, ok := audit.AuditIDFrom(ctx)
	if !ok || !strings.HasPrefix(string(id), witnessed) {
		return
	}
	object := func(o runtime.Object) string {
		if o == nil {
			return "none"
		}
		// The internal types of the sides differ. Webhooks and policies see the type of the
		// request.
		versioned, err := admission.ConvertToGVK(o, a.GetKind(), interfaces)
		if err != nil {
			return err.Error()
		}
		o = versioned
		text, err := json.Marshal(o)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s %s", o.GetObjectKind().GroupVersionKind(), text)
	}
	options, err := json.Marshal(a.GetOperationOptions())
	if err != nil {
		options = []byte(err.Error())
	}
	text := fmt.Sprintf("%s %s %s %q %s/%s dry run %t by %s options %s\nobject %s\noldObject %s\n", a.GetOperation(), a.GetKind(), a.GetResource(), a.GetSubresource(),
		a.GetNamespace(), a.GetName(), a.IsDryRun(), a.GetUserInfo().GetName(), options, object(a.GetObject()), object(a.GetOldObject()))

	w.lock.Lock()
	defer w.lock.Unlock()
	if w.seen == nil {
		w.seen = map[string]map[string]string{}
	}
	if w.seen[string(id)] == nil {
		w.seen[string(id)] = map[string]string{}
	}
	of := fmt.Sprintf(" of %s/%s", a.GetNamespace(), a.GetName())
	if phase == "mutating" {
		// An attempt that found a stale object may have been an update, and this one a creation.
		maps.DeleteFunc(w.seen[string(id)], func(key, _ string) bool { return strings.HasSuffix(key, of) })
	}
	w.seen[string(id)][phase+" "+string(a.GetOperation())+of] = text
}

// take returns the attributes that the request had, ordered by phase and object, and forgets them.
func (w *witness) take(id string) string {
	w.lock.Lock()
	defer w.lock.Unlock()
	seen := w.seen[id]
	delete(w.seen, id)
	result := ""
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		result += key + ": " + seen[key]
	}
	return result
}
