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

// factory returns the factory of a plugin in another registry. Registries do not export their
// factories, so each call lets the registry initialize a plugin, with an initializer that captures
// it. The registry also validates the plugin, which fails because its real initializers run later;
// factory ignores that error.
func factory(from *admission.Plugins, name string) admission.Factory {
	return func(config io.Reader) (admission.Interface, error) {
		captured := &capture{}
		_, err := from.InitPlugin(name, config, captured)
		switch {
		case captured.plugin != nil:
			// With a captured plugin, the error only means that initializers are missing, which the
			// caller runs later.
			return captured.plugin, nil
		case err != nil:
			// The registry that calls this factory adds the same prefix to the error.
			return nil, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("couldn't init admission plugin %q: ", name)))
		}
		return nil, nil // disabled by admission.PluginEnabledFn
	}
}

// capture is an initializer that keeps a reference to the plugin.
type capture struct{ plugin admission.Interface }

// Initialize implements admission.PluginInitializer.
func (c *capture) Initialize(plugin admission.Interface) { c.plugin = plugin }
