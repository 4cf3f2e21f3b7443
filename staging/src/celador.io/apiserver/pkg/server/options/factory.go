// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apiserver/pkg/admission"
)

// factory returns the factory of a plugin in another registry. A registry does not export its
// factories, so each call initializes a plugin there and captures it. The registry validates the
// plugin before it is completely initialized; factory ignores that error.
func factory(from *admission.Plugins, name string) admission.Factory {
	return func(config io.Reader) (admission.Interface, error) {
		captured := &capture{}
		_, err := from.InitPlugin(name, config, captured)
		switch {
		case captured.plugin != nil:
			// An error only means that initializers are missing. The caller runs them later.
			return captured.plugin, nil
		case err != nil:
			// The registry that calls this factory adds the prefix again.
			return nil, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("couldn't init admission plugin %q: ", name)))
		}
		return nil, nil // disabled by admission.PluginEnabledFn
	}
}

// capture is an initializer that keeps a reference to the plugin.
type capture struct{ plugin admission.Interface }

// Initialize implements admission.PluginInitializer.
func (c *capture) Initialize(plugin admission.Interface) { c.plugin = plugin }
