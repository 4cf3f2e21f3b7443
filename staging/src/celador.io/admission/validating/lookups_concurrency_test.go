// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// versioned is a source of things with an object whose label has the current version. As an
// authorizer, it sets the next version in some of its calls, so that objects change between the
// policies of a request.
type versioned struct {
	*known
	lock    sync.Mutex
	version int
	random  *rand.Rand
}

func (v *versioned) next(tb testing.TB) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.version++
	changing := thing("blue", "changing")
	changing.Labels = map[string]string{"version": strconv.Itoa(v.version)}
	if err := v.kinds[things].Set(changing); err != nil {
		tb.Error(err)
	}
}

func (v *versioned) current() int {
	v.lock.Lock()
	defer v.lock.Unlock()
	return v.version
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (v *versioned) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	v.lock.Lock()
	change := v.random.IntN(3) == 0
	v.lock.Unlock()
	if change {
		v.next(nil)
	}
	return authorizer.DecisionAllow, "", nil
}

// GetNamespace implements matching.NamespaceGetter.
func (*versioned) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

// All policies of a request see one version of an object, in whatever way they find it, and that is
// not older than the request, while the object changes between the policies and in other requests.
func TestRequestsSeeOneVersion(t *testing.T) {
	celtest.CheckKept(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	source := &versioned{known: sourceOf(t, []runtime.Object{thing("blue", "other")}), random: rand.New(rand.NewPCG(seed, 0))}
	source.next(t)
	engine := validating.NewEngine(validating.Config{Features: lookupsOn, Lookups: source, Namespaces: source, Authorizer: source})
	s := engine.NewStore()
	const version = "lookups.all.get('blue', 'changing').value().metadata.labels.version"
	ways := []string{
		version,
		"variables.version",
		"lookups.own.list()[0].metadata.labels.version",
		"lookups.own.list('version')[0].metadata.labels.version",
		"lookups.all.list().filter(t, t.metadata.name == 'changing')[0].metadata.labels.version",
		"lookups.found.indexed(" + version + ").map(t, t.metadata.labels.version).join()",
	}
	for i := range 3 * len(ways) {
		p := aboutThings("[item.metadata.name, item.metadata.?labels.version.orValue('')]",
			fmt.Sprintf("authorizer.path('/%d').check('get').allowed() && false", i), "lookups.own.list().size() != 2")
		p.Name = fmt.Sprintf("p%02d", i)
		p.Spec.Variables = []v1.Variable{{Name: "version", Expression: version}}
		for at := range p.Spec.Validations {
			p.Spec.Validations[at].MessageExpression = "string(" + ways[(i+at)%len(ways)] + ")"
		}
		if i%2 == 0 {
			p.Spec.MatchConditions = []v1.MatchCondition{{Name: "known", Expression: "lookups.own.get('changing').hasValue()"}}
		}
		if err := s.Set(p, policytest.Binding(p.Name, p.Name)); err != nil {
			t.Fatal(err)
		}
	}
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			changed := 0
			for range 100 {
				oldest := source.current()
				result, err := engine.Evaluate(t.Context(), create(1), newServer(), s.Snapshot())
				if err != nil || len(result.Violations) != 6*len(ways) {
					t.Errorf("got %d violations and error %v", len(result.Violations), err)
					return
				}
				newest := source.current()
				seen, _ := strconv.Atoi(result.Violations[0].Message)
				if seen < oldest || seen > newest {
					t.Errorf("the request saw version %s, want one from %d to %d", result.Violations[0].Message, oldest, newest)
				}
				if seen < newest {
					changed++
				}
				for _, v := range result.Violations {
					if v.Message != result.Violations[0].Message {
						t.Errorf("policy %s saw version %s, another one %s", v.Policy, v.Message, result.Violations[0].Message)
					}
				}
				result.Free()
			}
			if changed == 0 {
				t.Error("the object changed in no request")
			}
		})
	}
	requests.Wait()
}
