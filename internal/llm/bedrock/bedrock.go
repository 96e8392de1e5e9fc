// Package bedrock is the client for Claude on Amazon Bedrock: the Messages API
// of package anthropic behind InvokeModelWithResponseStream. Requests are signed
// (Signature Version 4) or carry a Bedrock API key; answers arrive in Amazon's
// event stream framing, whose chunks hold the events of the Messages API.
//
// It never asks a metadata service, a single sign-on portal or a token service
// for credentials, and starts no program for them: it takes what the environment
// or the files of the AWS command line hold as they are.
package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/wire"
)

// version is the anthropic_version that Bedrock wants in the body.
const version = "bedrock-2023-05-31"

// framing is the media type of Amazon's event stream.
const framing = "application/vnd.amazon.eventstream"

// New makes a client. cfg.BaseURL, where it is set, takes the place of the
// region's own address and ends before /model; cfg.Key does not count. The model
// id is that of a model, an inference profile (us.anthropic.claude-…), or an ARN.
func New(cfg llm.ClientConfig, creds Credentials) (llm.Model, error) {
	return newAt(cfg, creds, func(next http.RoundTripper) http.RoundTripper { return next })
}

// newAt is New with something between the client and the network.
func newAt(cfg llm.ClientConfig, creds Credentials, between func(http.RoundTripper) http.RoundTripper) (llm.Model, error) {
	if cfg.Info == nil {
		return nil, errors.New("model client: no model information")
	}
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	if err := checkRegion(creds.Region); err != nil {
		return nil, fmt.Errorf("model %s: %w", cfg.Info.Spec, err)
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = Address(creds.Region)
	}
	t := &transport{}
	auth := wire.Auth{Transport: func(next http.RoundTripper, hide func(string)) http.RoundTripper {
		hide(creds.AccessKey)
		hide(creds.SessionToken)
		t.next = between(next)
		return t
	}}
	if creds.Bearer != "" {
		cfg.Key, auth.Header, auth.Prefix = creds.Bearer, "Authorization", "Bearer "
	} else {
		cfg.Key = creds.SecretKey
		t.sign = signer(creds, cfg.Clock)
	}
	return anthropic.NewAt(cfg, anthropic.Host{
		Path:    "model/" + escape(cfg.Info.ID) + "/invoke-with-response-stream",
		Version: version, Streams: true, BodyBetas: true, Auth: auth,
	})
}

// Address is where a region serves models.
func Address(region string) string { return "https://bedrock-runtime." + region + ".amazonaws.com" }

// checkRegion refuses what is no region's name: it becomes part of a host's.
func checkRegion(region string) error {
	odd := func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') }
	if region == "" {
		return ErrNoRegion
	}
	if strings.ContainsFunc(region, odd) {
		return fmt.Errorf("%q is not the name of an AWS region, such as us-east-1", region)
	}
	return nil
}

// escape writes a model id as one segment of a path. Amazon signs ':' escaped,
// which net/url leaves as it is.
func escape(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

// transport signs what goes out, where it has no bearer token already, and turns
// the stream that comes back into server-sent events.
type transport struct {
	next http.RoundTripper
	sign func(*http.Request) error
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Set("Accept", framing)
	if t.sign != nil {
		if err := t.sign(out); err != nil {
			if req.Body != nil {
				_ = req.Body.Close() // nothing was sent
			}
			return nil, err
		}
	}
	resp, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == framing {
		resp.Header.Set("Content-Type", "text/event-stream")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Body = -1, newEvents(resp.Body)
	}
	return resp, nil
}

// signer signs with the hash of the whole body, cache marks and all.
func signer(creds Credentials, clock core.Clock) func(*http.Request) error {
	s := v4.NewSigner()
	keys := aws.Credentials{AccessKeyID: creds.AccessKey, SecretAccessKey: creds.SecretKey, SessionToken: creds.SessionToken}
	return func(req *http.Request) error {
		body, err := req.GetBody()
		if err != nil {
			return fmt.Errorf("sign the request: %w", err)
		}
		sum := sha256.New()
		if _, err := io.Copy(sum, body); err != nil {
			return fmt.Errorf("sign the request: %w", err)
		}
		// The configuration may have put headers of these names into the request.
		req.Header.Del("Authorization")
		req.Header.Del("X-Amz-Security-Token")
		if err := s.SignHTTP(req.Context(), keys, req, hex.EncodeToString(sum.Sum(nil)), "bedrock", creds.Region, clock.Now()); err != nil {
			return fmt.Errorf("sign the request: %w", err)
		}
		return nil
	}
}
