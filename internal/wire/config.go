package wire

import (
	"path/filepath"
	"strings"

	"garuda/internal/config"
	"garuda/internal/tool"
	"garuda/internal/tools/settings"
)

// configTool is the tool that reads and sets the settings.
func (s *System) configTool() []tool.Tool {
	o := settings.Options{Settings: s.settings, Home: s.places.garuda, Redact: func(text string) string {
		clean, _ := s.redactor.String(text)
		return clean
	}}
	o.Shown = config.UserFile(o.Home)
	if rest, below := strings.CutPrefix(o.Shown, s.places.user+string(filepath.Separator)); below && s.places.user != "" {
		o.Shown = "~/" + filepath.ToSlash(rest)
	}
	return []tool.Tool{settings.New(o)}
}
