package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"garuda/internal/userfile"
)

// Credentials are what access tokens are fetched with.
type Credentials struct {
	// Project is the one that the file names; may be empty.
	Project string
	// Source says where they came from, for people.
	Source string

	// secret is what must be in no error.
	secret string
	// quotaProject pays for a user's requests, where the file says so.
	quotaProject string
	// fetch fetches a token over the given client. An *oauth2.RetrieveError is
	// the token server's own no.
	fetch func(ctx context.Context, via *http.Client) (*oauth2.Token, error)
}

// ErrNoCredentials means that there is no file of credentials.
var ErrNoCredentials = errors.New("no Google credentials: run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account's key")

// scope is what tokens are asked for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Find looks for credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names,
// then the one that gcloud writes, then a metadata server that GCE_METADATA_HOST
// names. lookup reads the environment, as os.LookupEnv does.
func Find(lookup func(name string) (string, bool)) (*Credentials, error) {
	get := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	path := get("GOOGLE_APPLICATION_CREDENTIALS")
	named := path != ""
	if !named {
		path = wellKnown(get)
	}
	var data []byte
	err := fs.ErrNotExist
	if path != "" {
		data, err = userfile.Read(path, maxFile)
	}
	switch {
	case err == nil:
		c, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("read the Google credentials %s: %w", path, err)
		}
		c.Source = path
		return c, nil
	case named:
		return nil, fmt.Errorf("read %s, which GOOGLE_APPLICATION_CREDENTIALS names: %w", path, err)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the Google credentials %s: %w", path, err)
	}
	if host := get("GCE_METADATA_HOST"); host != "" {
		return metadata(host), nil
	}
	return nil, ErrNoCredentials
}

// wellKnown is where gcloud keeps application default credentials.
func wellKnown(get func(string) string) string {
	const name = "application_default_credentials.json"
	if dir := get("CLOUDSDK_CONFIG"); dir != "" {
		return filepath.Join(dir, name)
	}
	if runtime.GOOS == "windows" {
		if dir := get("APPDATA"); dir != "" {
			return filepath.Join(dir, "gcloud", name)
		}
		return ""
	}
	if dir := get("HOME"); dir != "" {
		return filepath.Join(dir, ".config", "gcloud", name)
	}
	return ""
}

// maxFile is the largest file of credentials that is read, in bytes.
const maxFile = 1 << 20

// file is what Google's files of credentials hold.
type file struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`
	TokenURL     string `json:"token_uri"`
	Email        string `json:"client_email"`
	PrivateKey   string `json:"private_key"`
	PrivateKeyID string `json:"private_key_id"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// parse takes what needs neither a program nor another service to fetch a token.
// Its errors quote nothing of the file.
func parse(data []byte) (*Credentials, error) {
	var f file
	if json.Unmarshal(data, &f) != nil {
		return nil, errors.New("it is not JSON of the form that Google's tools write")
	}
	if f.TokenURL == "" {
		f.TokenURL = "https://oauth2.googleapis.com/token"
	}
	if !safe(f.TokenURL) {
		return nil, errors.New("its token_uri is no https address")
	}
	c := &Credentials{Project: f.ProjectID, quotaProject: f.QuotaProject}
	if c.Project == "" {
		c.Project = f.QuotaProject
	}
	switch f.Type {
	case "service_account":
		if f.Email == "" || f.PrivateKey == "" {
			return nil, errors.New("the service account has no client_email or no private_key")
		}
		conf := &jwt.Config{Email: f.Email, PrivateKey: []byte(f.PrivateKey), PrivateKeyID: f.PrivateKeyID, Scopes: []string{scope}, TokenURL: f.TokenURL}
		c.secret = f.PrivateKey
		c.fetch = func(ctx context.Context, via *http.Client) (*oauth2.Token, error) {
			return conf.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, via)).Token()
		}
	case "authorized_user":
		if f.RefreshToken == "" {
			return nil, errors.New("the user's login has no refresh_token")
		}
		conf := &oauth2.Config{ClientID: f.ClientID, ClientSecret: f.ClientSecret, Scopes: []string{scope},
			Endpoint: oauth2.Endpoint{TokenURL: f.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
		c.secret = f.RefreshToken
		c.fetch = func(ctx context.Context, via *http.Client) (*oauth2.Token, error) {
			return conf.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, via), &oauth2.Token{RefreshToken: f.RefreshToken}).Token()
		}
	default:
		return nil, fmt.Errorf("credentials of type %q are not supported: use a service account's key, or `gcloud auth application-default login`", f.Type)
	}
	return c, nil
}

// safe reports whether keys may be sent to an address.
func safe(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && err == nil && addr.IsLoopback()
}

// metadata asks the metadata server of a virtual machine.
func metadata(host string) *Credentials {
	target := url.URL{Scheme: "http", Host: host, Path: "/computeMetadata/v1/instance/service-accounts/default/token", RawQuery: "scopes=" + url.QueryEscape(scope)}
	c := &Credentials{Source: "the metadata server " + host}
	c.fetch = func(ctx context.Context, via *http.Client) (*oauth2.Token, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Metadata-Flavor", "Google")
		resp, err := via.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxFile))
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			return nil, &oauth2.RetrieveError{Response: resp, Body: body}
		}
		var said struct {
			Token   string `json:"access_token"`
			Seconds int64  `json:"expires_in"`
		}
		if json.Unmarshal(body, &said) != nil {
			return nil, errors.New("the metadata server's answer is not JSON")
		}
		return &oauth2.Token{AccessToken: said.Token, Expiry: time.Now().Add(time.Duration(said.Seconds) * time.Second)}, nil
	}
	return c
}
