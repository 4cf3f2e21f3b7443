// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"sync"

	"github.com/google/cel-go/common/types/ref"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/values"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// Input holds the values of 'object', 'oldObject' and 'request' for one request, in one version of
// its objects. Values are created and cached when they are read, so an Input is not safe for
// concurrent use.
type Input struct {
	// Target is the resource and kind of the objects. All policies with the same target share an
	// Input.
	Target     *matching.Target
	attributes admission.Attributes
	authorizer *AuthorizerValue
	time       *ReceivedTime

	object, oldObject ref.Val
	// The following values are nil until they are first read.
	request, conditionRequest        ref.Val
	authorizerValue, requestResource ref.Val
	// results is nil until a second series begins. Free returns its memory.
	results *expression.Results
	series  int
	// changes is set once Show has replaced object and oldObject. Series may then read different
	// objects, so they do not share values of equal expressions.
	changes bool
}

// NewInput returns the input for objects of the given target. object and oldObject may be nil. If
// authorizer is nil, expressions that read 'authorizer' fail, and if time is nil, those that read
// 'request.time'.
func NewInput(a admission.Attributes, target *matching.Target, object, oldObject runtime.Object, authorizer *AuthorizerValue, time *ReceivedTime) *Input {
	return &Input{
		Target: target, attributes: a, authorizer: authorizer, time: time,
		object: ObjectValue(object, Typed), oldObject: ObjectValue(oldObject, Typed),
	}
}

// Show sets the values of 'object' and 'oldObject' for the series of evaluations that begin
// afterwards.
func (in *Input) Show(object, oldObject ref.Val) {
	in.object, in.oldObject = object, oldObject
	in.results, in.changes = nil, true
}

// resultsFor returns the store of results with which the next series of the given role shares the
// values of equal expressions with the other series of the input. It returns nil if there are no
// others yet, or if they may have other values of 'object' or 'request'.
func (in *Input) resultsFor(role policyspec.Role) *expression.Results {
	if in.changes || role == policyspec.MatchCondition && in.Target.Resource != in.originalResource() {
		return nil
	}
	if in.series++; in.series == 2 {
		in.results = results.Get().(*expression.Results)
	}
	return in.results
}

// results holds the memory of Input.results between requests.
var results = sync.Pool{New: func() any { return &expression.Results{} }}

// Free makes the memory of the input available to other requests. The input and its series must not
// be used any more.
func (in *Input) Free() {
	if in.results != nil {
		in.results.Clear()
		results.Put(in.results)
		in.results = nil
	}
}

func (in *Input) requestValue() ref.Val {
	if in.request == nil {
		in.request = in.admissionRequest(in.Target.Resource)
	}
	return in.request
}

// conditionRequestValue returns the value of 'request' for match conditions. Its kind is that of
// the input, and its resource is that of the request before conversion.
func (in *Input) conditionRequestValue() ref.Val {
	if in.conditionRequest == nil {
		if original := in.originalResource(); in.Target.Resource == original {
			in.conditionRequest = in.requestValue()
		} else {
			in.conditionRequest = in.admissionRequest(original)
		}
	}
	return in.conditionRequest
}

func (in *Input) originalResource() schema.GroupVersionResource {
	return matching.Original(in.attributes).GetResource()
}

func (in *Input) admissionRequest(resource schema.GroupVersionResource) ref.Val {
	request := plugincel.CreateAdmissionRequest(matching.Original(in.attributes), metav1.GroupVersionResource(resource), metav1.GroupVersionKind(in.Target.Kind))
	if in.time.exists() {
		return values.Of(timedRequest{request, values.Timestamp{Time: in.time.get()}})
	}
	return values.Of(request)
}

func (in *Input) authorizerVal() ref.Val {
	if in.authorizerValue == nil {
		in.authorizerValue = library.NewAuthorizerVal(in.attributes.GetUserInfo(), in.authorizer.get())
	}
	return in.authorizerValue
}

func (in *Input) requestResourceVal() ref.Val {
	if in.requestResource == nil {
		in.requestResource = library.NewResourceAuthorizerVal(in.attributes.GetUserInfo(), in.authorizer.get(), matching.Original(in.attributes))
	}
	return in.requestResource
}

// Objects returns the values of 'object' and 'oldObject', each of them nil for null.
func (in *Input) Objects() (object, oldObject ref.Val) { return in.object, in.oldObject }
