// Package vertex is the client for Claude on Google's Vertex AI: the Messages API
// of package anthropic behind streamRawPredict, authorised by an access token.
//
// Tokens come from Google's own file of application default credentials: a
// service account, or a user who logged in with gcloud. The metadata server of a
// virtual machine is asked only where GCE_METADATA_HOST says that there is one,
// so that nothing waits for an address that nobody has; no program is started.
package vertex

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/wire"
)

// version is the anthropic_version that Vertex wants in the body.
const version = "vertex-2023-10-16"

// Place is where models are served from.
type Place struct{ Project, Region string }

// New makes a client. cfg.BaseURL, where it is set, takes the place of the
// region's own address and ends before /v1/projects; cfg.Key does not count. The
// model id is Vertex's, such as claude-sonnet-4-5@20250929.
func New(cfg llm.ClientConfig, place Place, creds *Credentials) (llm.Model, error) {
	if cfg.Info == nil {
		return nil, errors.New("model client: no model information")
	}
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	if err := place.Check(); err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.Info.Spec, err)
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = Address(place.Region)
	}
	cfg.Key = creds.secret // in no header of its own, and in no error
	return anthropic.NewAt(cfg, anthropic.Host{
		Path: "v1/projects/" + url.PathEscape(place.Project) + "/locations/" + place.Region +
			"/publishers/anthropic/models/" + url.PathEscape(cfg.Info.ID) + ":streamRawPredict",
		Version: version,
		Auth: wire.Auth{Transport: func(next http.RoundTripper, hide func(string)) http.RoundTripper {
			return &transport{next: next, creds: creds, clock: cfg.Clock, hide: hide}
		}},
	})
}

// Address is where a region serves models. "global" and the two continents have
// names of their own.
func Address(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com"
	}
	return "https://" + region + "-aiplatform.googleapis.com"
}

// ErrNoProject and ErrNoRegion mean that nothing names them.
var (
	ErrNoProject = errors.New("no Google Cloud project: set ANTHROPIC_VERTEX_PROJECT_ID or GOOGLE_CLOUD_PROJECT")
	ErrNoRegion  = errors.New("no Google Cloud region: set CLOUD_ML_REGION, for example to global or us-east5")
)

// Check says what is missing. It refuses what is no region's name: it becomes part of a host's.
func (p Place) Check() error {
	odd := func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') }
	switch {
	case p.Project == "":
		return ErrNoProject
	case p.Region == "":
		return ErrNoRegion
	case strings.ContainsFunc(p.Region, odd):
		return fmt.Errorf("%q is not the name of a Google Cloud region, such as us-east5", p.Region)
	}
	return nil
}
