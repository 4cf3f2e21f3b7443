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

// factory takes a plugin's factory out of a registry, which offers no other way
// to it than to let it make a plugin. The plugin's initialization is validated
// once too often, before it is complete.
func factory(from *admission.Plugins, name string) admission.Factory {
	return func(config io.Reader) (admission.Interface, error) {
		made := &catcher{}
		_, err := from.InitPlugin(name, config, made)
		switch {
		case made.plugin != nil:
			// The error, if any, says that initializers are missing. They follow.
			return made.plugin, nil
		case err != nil:
			// The registry that calls this factory puts the same before it once more.
			return nil, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("couldn't init admission plugin %q: ", name)))
		}
		return nil, nil // switched off by admission.PluginEnabledFn
	}
}

// catcher is an initializer that only keeps the plugin.
type catcher struct{ plugin admission.Interface }

func (c *catcher) Initialize(plugin admission.Interface) { c.plugin = plugin }
