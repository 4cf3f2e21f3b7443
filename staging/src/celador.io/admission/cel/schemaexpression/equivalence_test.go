// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/schemaexpression"
)

// resource holds the schema and the values of testdata/resource.yaml.
type resource struct {
	Schema spec.Schema               `json:"schema"`
	Values map[string]map[string]any `json:"values"`
}

func loadResource(t testing.TB) *resource {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "resource.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	r := &resource{}
	if err := json.Unmarshal(asJSON, r); err != nil {
		t.Fatal(err)
	}
	for _, value := range r.Values {
		integers(value)
	}
	return r
}

// integers replaces the whole numbers in a value, as decoders of Kubernetes objects do.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, element := range v {
			v[key] = integers(element)
		}
	case []any:
		for i, element := range v {
			v[i] = integers(element)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

func (r *resource) common() common.Schema { return &openapi.Schema{Schema: &r.Schema} }

func (r *resource) self() *apiservercel.DeclType {
	return common.SchemaDeclType(r.common(), true).MaybeAssignTypeName("selfType")
}

// reference plans an expression with cel-go as Kubernetes plans validation rules.
func (r *resource) reference(t testing.TB, source string, oldSelf *cel.Type) cel.Program {
	t.Helper()
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", r.self().CelType()), cel.Variable("oldSelf", oldSelf)},
		DeclTypes:         []*apiservercel.DeclType{r.self()},
	})
	if err != nil {
		t.Fatal(err)
	}
	env := set.StoredExpressionsEnv()
	checked, issues := env.Compile(source)
	if issues != nil {
		t.Fatalf("%s: %v", source, issues)
	}
	program, err := env.Program(checked, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return program
}

// evaluationsOfRandomOrder is the number of evaluations by cel-go in which the random order of a Go
// map is expected to select each of several outcomes. The rarest comes once in some hundred. Most
// evaluations agree at once.
const evaluationsOfRandomOrder = 1 << 14

// TestEquivalence compares the values, costs and errors of all expressions with those of
// Kubernetes' validation rules, for all pairs of values. Closures must evaluate all expressions but
// those that are marked with '!'.
func TestEquivalence(t *testing.T) {
	r := loadResource(t)
	schema := schemaexpression.NewSchema(r.common())
	content, err := os.ReadFile(filepath.Join("testdata", "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		source := strings.TrimSpace(line)
		if source == "" || strings.HasPrefix(source, "//") {
			continue
		}
		source, interpreted := strings.CutPrefix(source, "! ")
		oldSelf, oldType := schemaexpression.PlainOldSelf, r.self().CelType()
		if strings.Contains(source, "oldSelf.?") || strings.Contains(source, "oldSelf.hasValue") || strings.Contains(source, "oldSelf.opt") {
			oldSelf, oldType = schemaexpression.OptionalOldSelf, types.NewOptionalType(oldType)
		}
		program := compile(t, r, source, oldSelf)
		if program == nil {
			continue
		}
		if planned := program.Planned() == 1; planned == interpreted {
			t.Errorf("%s: closures evaluate it: %t", source, planned)
		}
		reference := r.reference(t, source, oldType)
		for name, value := range r.Values {
			for oldName, old := range r.Values {
				ours := &schemaexpression.Activation{Self: schemaexpression.Value(value, schema), OldSelf: schemaexpression.Value(old, schema)}
				theirs := map[string]any{"self": common.UnstructuredToVal(value, r.common()), "oldSelf": common.UnstructuredToVal(old, r.common())}
				if oldSelf == schemaexpression.OptionalOldSelf {
					ours.OldSelf, theirs["oldSelf"] = types.OptionalOf(ours.OldSelf), types.OptionalOf(theirs["oldSelf"].(ref.Val))
					if oldName == "empty" {
						ours.OldSelf, theirs["oldSelf"] = types.OptionalNone, types.OptionalNone
					}
				}
				// The second evaluation reads cached values.
				for range 2 {
					got, difference := program.Evaluate(t.Context(), ours), ""
					for range evaluationsOfRandomOrder {
						want, details, err := reference.ContextEval(context.Background(), theirs)
						if difference = differ(got, want, *details.ActualCost(), err, plainValue); difference == "" {
							break
						}
					}
					if difference != "" {
						t.Errorf("%s with self %s and oldSelf %s: %s", source, name, oldName, difference)
					}
				}
				if !strings.Contains(source, "oldSelf") {
					break
				}
			}
		}
	}
}

func compile(t testing.TB, r *resource, source string, oldSelf schemaexpression.OldSelfType) *schemaexpression.Program {
	t.Helper()
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: r.self(), OldSelf: oldSelf}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	expression, invalid := env.Compile(source)
	if invalid != nil {
		t.Errorf("%s: %v", source, invalid)
		return nil
	}
	program, err := expression.Program()
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return program
}

// differ describes how an evaluation differs from cel-go's, or returns an empty string. plain
// returns the part of a value that is compared.
func differ(got schemaexpression.EvaluationResult, want ref.Val, cost uint64, err error, plain func(ref.Val) any) string {
	switch {
	case !got.HasCost || got.Cost != cost:
		return fmt.Sprintf("costs %d, want %d (value %v, error %v)", got.Cost, cost, want, err)
	case err != nil || got.Err != nil:
		if withoutGoTypes(got.Err) != withoutGoTypes(err) || got.Value != nil {
			return fmt.Sprintf("value %v, error %v, want the error %v", got.Value, got.Err, err)
		}
		return ""
	}
	if a, b := plain(got.Value), plain(want); !reflect.DeepEqual(a, b) {
		return fmt.Sprintf("value %v, want %v", a, b)
	}
	return ""
}

// goType matches the names of the Go types of values, which are Celador's own.
var goType = regexp.MustCompile(`\*(values\.schema|common\.unstructured)`)

func withoutGoTypes(err error) string { return goType.ReplaceAllString(fmt.Sprint(err), "*") }

// plainValue returns the content of a CEL value.
func plainValue(v ref.Val) any {
	switch v := v.(type) {
	case *types.Optional:
		if !v.HasValue() {
			return "optional.none()"
		}
		return []any{"optional", plainValue(v.GetValue())}
	case traits.Mapper:
		content, unknown := map[any]any{}, 0
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			if key == nil {
				unknown++ // Kubernetes' conversion returns nil for unknown fields
				content[nil] = unknown
				continue
			}
			content[key.Value()] = plainValue(v.Get(key))
		}
		return content
	case traits.Lister:
		content := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			content = append(content, plainValue(it.Next()))
		}
		return content
	default:
		return fmt.Sprintf("%s %v", v.Type().TypeName(), v.Value())
	}
}
