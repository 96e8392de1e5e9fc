// Package preset finds the hosts behind a word such as npm or go. Which hosts a
// package manager uses is its own business: they are read from its configuration
// on this machine, so that mirrors work and no registry is named here.
//
// It reads nothing of a project: what a project configures lets nothing out.
package preset

import "strings"

// Names are the presets, sorted.
func Names() []string { return []string{"cargo", "github", "gitlab", "go", "maven", "npm", "pypi"} }

// List is the names as a text for people.
func List() string { return strings.Join(Names(), ", ") }
