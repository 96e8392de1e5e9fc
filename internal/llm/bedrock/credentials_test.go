package bedrock

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sources has these variables, and a home folder with these files of the AWS
// command line.
func sources(t *testing.T, env, secrets, files map[string]string) Sources {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	homeName := "HOME"
	if runtime.GOOS == "windows" {
		homeName = "USERPROFILE"
	}
	return Sources{
		Lookup: func(name string) (string, bool) {
			if name == homeName {
				return home, true
			}
			v, ok := env[name]
			return v, ok
		},
		Secret: func(name string) (string, string, bool) {
			v, ok := secrets[name]
			return v, name, ok
		},
	}
}

const credentialsFile = `
# comment
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key=def#ault;"secret" = x
s3 =
    max_queue_size = 1
	aws_session_token = not this one

[ work ]
AWS_ACCESS_KEY_ID = AKIAWORK
aws_secret_access_key = work
aws_session_token = token
[broken
nonsense
[half]
aws_access_key_id = AKIAHALF
`

const configFile = `[default]
region = us-west-2
[profile work]
region=eu-central-1
[work]
region = wrong
[profile portal]
sso_session = corp
region = us-east-1
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = default
[profile prog]
credential_process = /bin/keys
`

func TestFind(t *testing.T) {
	files := map[string]string{"credentials": credentialsFile, "config": configFile}
	type m = map[string]string
	for name, tt := range map[string]struct {
		env, secrets, files m
		want                Credentials
		problem             string
	}{
		"bearer":                  {m{"AWS_REGION": "eu-west-1"}, m{BearerName: "bk", AccessName: "a", SecretName: "s"}, files, Credentials{Bearer: "bk", Region: "eu-west-1", Source: BearerName}, ""},
		"bearer, profile region":  {nil, m{BearerName: "bk"}, files, Credentials{Bearer: "bk", Region: "us-west-2", Source: BearerName}, ""},
		"bearer, no region":       {nil, m{BearerName: "bk"}, nil, Credentials{}, "set AWS_REGION"},
		"keys":                    {m{"AWS_DEFAULT_REGION": "us-east-2"}, m{AccessName: "a", SecretName: "s", SessionName: "t"}, nil, Credentials{AccessKey: "a", SecretKey: "s", SessionToken: "t", Region: "us-east-2", Source: AccessName}, ""},
		"keys before the profile": {m{"AWS_PROFILE": "work"}, m{AccessName: "a", SecretName: "s"}, files, Credentials{AccessKey: "a", SecretKey: "s", Region: "eu-central-1", Source: AccessName}, ""},
		"half of the keys":        {nil, m{AccessName: "a"}, files, Credentials{}, SecretName + " is not"},
		"the other half":          {nil, m{SecretName: "s"}, files, Credentials{}, AccessName + " is not"},
		"a token without keys":    {nil, m{SessionName: "t"}, files, Credentials{AccessKey: "AKIADEFAULT", SecretKey: `def#ault;"secret" = x`, Region: "us-west-2", Source: "the AWS profile default"}, ""},
		"profile":                 {m{"AWS_PROFILE": "work"}, nil, files, Credentials{AccessKey: "AKIAWORK", SecretKey: "work", SessionToken: "token", Region: "eu-central-1", Source: "the AWS profile work"}, ""},
		"profile, other region":   {m{"AWS_PROFILE": "work", "AWS_REGION": "ap-south-1"}, nil, files, Credentials{AccessKey: "AKIAWORK", SecretKey: "work", SessionToken: "token", Region: "ap-south-1", Source: "the AWS profile work"}, ""},
		"no such profile":         {m{"AWS_PROFILE": "gone"}, nil, files, Credentials{}, `"gone"`},
		"half a profile":          {m{"AWS_PROFILE": "half", "AWS_REGION": "us-east-1"}, nil, files, Credentials{}, "has no keys"},
		"single sign-on":          {m{"AWS_PROFILE": "portal"}, nil, files, Credentials{}, "export-credentials --profile portal"},
		"role":                    {m{"AWS_PROFILE": "role", "AWS_REGION": "us-east-1"}, nil, files, Credentials{}, "by a role"},
		"program":                 {m{"AWS_PROFILE": "prog", "AWS_REGION": "us-east-1"}, nil, files, Credentials{}, "by a program"},
		"nothing":                 {m{"AWS_REGION": "us-east-1"}, nil, nil, Credentials{}, "no AWS credentials"},
		"a bad region":            {m{"AWS_REGION": "x.example/"}, m{BearerName: "bk"}, nil, Credentials{}, "not the name of an AWS region"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(sources(t, tt.env, tt.secrets, tt.files))
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%v, want %s", err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFilesElsewhere: the command line's own variables say where its files are;
// what is no file, or too large to be one, is an error and does not hang.
func TestFilesElsewhere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keys")
	if err := os.WriteFile(path, []byte(credentialsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AWS_SHARED_CREDENTIALS_FILE": path, "AWS_REGION": "us-east-1"}
	if c, err := Find(sources(t, env, nil, nil)); err != nil || c.AccessKey != "AKIADEFAULT" {
		t.Errorf("%+v, %v", c, err)
	}
	env["AWS_SHARED_CREDENTIALS_FILE"] = dir
	if _, err := Find(sources(t, env, nil, nil)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("#", maxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	env["AWS_SHARED_CREDENTIALS_FILE"] = path
	if _, err := Find(sources(t, env, nil, nil)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
}

func FuzzParseINI(f *testing.F) {
	f.Add([]byte(credentialsFile))
	f.Add([]byte("\ufeff[a]\r\nb=c\r\n[[x]\n=\n ="))
	f.Fuzz(func(t *testing.T, in []byte) {
		for section, keys := range parseINI(in) {
			for k, v := range keys {
				if section == "" || strings.ContainsAny(k+v, "\n") || k != strings.ToLower(k) {
					t.Fatalf("%q: %q = %q", section, k, v)
				}
			}
		}
	})
}
