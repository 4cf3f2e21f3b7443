// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"runtime"
	"sync"
	"testing"
)

// TestConcurrently evaluates the same programs in many goroutines, each with its own inputs. At the
// same time, other goroutines plan the same expressions, and the garbage collector frees unused
// plans.
func TestConcurrently(t *testing.T) {
	sources := []string{
		"object.spec.replicas <= 5 && object.metadata.name.startsWith('sh')",
		"object.spec.template.spec.containers.all(c, c.image.contains('/') || c.name in ['log', 'web'])", "ints.map(x, ints.filter(y, y > x).size())",
		"cel.bind(x, [], [x + [i], x + [2]])",
		"object.metadata.name.matches('^[a-zö]+$') ? object.metadata.labels.map(k, k + object.metadata.labels[k]) : []",
		"(b'ab' + bytesOf) == bytes('ab') + bytesOf && bytesOf + b'1' != bytesOf + b'2' && (b'' + bytesOf) + b'1' == bytesOf + b'1'",
		"[quantity('5')].all(q, q.isLessThan(quantity('123456789012345678901234567890')) && q.isInteger())",
		"sets.contains(ints, ints) && lists.range(3).slice(0, 2).sum() == 1 && 'a1'.find('[0-9]') == '1'",
		"quantity('1Gi').isGreaterThan(quantity('1G')) && authorizer.requestResource.check('get').allowed()",
	}
	var programs []*program
	for _, source := range sources {
		programs = append(programs, mustCompile(t, source))
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				for _, in := range inputs() {
					for _, p := range programs {
						check(t, p, in)
					}
				}
			}
		})
		group.Go(func() {
			in := inputs()["typed"]
			for range 5 {
				for _, source := range sources {
					if p, err := kubernetes().compile(source); err != nil || !check(t, p, in) {
						t.Errorf("%s has no value (%v)", source, err)
					}
				}
				runtime.GC()
			}
		})
	}
	group.Wait()
}
