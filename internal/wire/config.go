package wire

import (
	"garuda/internal/config"
	"garuda/internal/tool"
	"garuda/internal/tools/settings"
)

// configTool is the tool that reads and sets the settings.
func (s *System) configTool() []tool.Tool {
	return []tool.Tool{settings.New(settings.Options{
		Store: configStore{s.settings, s.places.garuda}, Redact: s.clean,
		Shown: config.Shown(config.UserFile(s.places.garuda), s.places.user),
	})}
}

// configStore is the settings as the tool sees them.
type configStore struct {
	settings *config.Settings
	home     string
}

func (c configStore) Settings() []settings.Setting {
	var out []settings.Setting
	values := c.settings.Values()
	for i, k := range config.Keys() {
		s := settings.Setting{Key: k.Name, JSON: values[i].JSON, Type: k.Type, Meaning: k.Meaning, Unit: k.Unit}
		for _, from := range values[i].Sources {
			s.Sources = append(s.Sources, settings.Source{
				Name: from.Name, BuiltIn: from.Kind == config.BuiltIn, Other: from.Kind != config.BuiltIn && from.Kind != config.User,
			})
		}
		out = append(out, s)
	}
	return out
}

func (c configStore) Check(key string, value []byte) error { return config.CheckValue(key, value) }
func (c configStore) Set(key string, value []byte) error   { return config.SetUser(c.home, key, value) }
func (c configStore) CanSet() bool                         { return c.home != "" }
