package preset

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile is how much of a tool's file is read, in bytes.
const maxFile = 1 << 20

// cargo reads the registries of cargo's configuration, and, since the one that is
// built in stands nowhere, those that cargo has fetched from: each has a folder
// named after its host, with a file that names the hosts of its packages.
func (t *Tools) cargo(context.Context) ([]string, error) {
	home := t.lookup("CARGO_HOME")
	if home == "" {
		home = filepath.Join(t.Home, ".cargo")
	}
	var hosts []string
	for _, name := range []string{"config.toml", "config"} {
		text, err := readFile(filepath.Join(home, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		hosts = append(hosts, cargoRegistries(text)...)
	}
	for _, entry := range t.Env {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CARGO_REGISTRIES_") && strings.HasSuffix(name, "_INDEX") {
			hosts = append(hosts, hostsIn(value)...)
		}
	}
	folders, err := filepath.Glob(filepath.Join(home, "registry", "index", "*", "config.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range folders {
		text, err := readFile(path)
		if err != nil {
			return nil, err
		}
		// The folder is called <host>-<16 hex digits>.
		index, _, _ := cutLast(filepath.Base(filepath.Dir(path)), "-")
		hosts = append(hosts, hostsIn("https://"+index+" "+text)...)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("cargo: %w (a built-in registry is known once cargo has fetched from it)", ErrNone)
	}
	return hosts, nil
}

// cargoRegistries finds the URLs in the tables of cargo's configuration that
// describe registries; others are proxies and the like.
func cargoRegistries(config string) []string {
	var hosts []string
	table := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(beforeComment(line))
		if name, ok := strings.CutPrefix(line, "["); ok {
			table = name
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if table != "" {
			key = table
		}
		key, _, _ = strings.Cut(strings.Trim(key, " \t\"'"), ".")
		switch strings.TrimRight(key, "] \t\"'") {
		case "source", "registries", "registry":
			hosts = append(hosts, hostsIn(value)...)
		}
	}
	return hosts
}

// beforeComment is the part of a line of TOML that no comment holds.
func beforeComment(line string) string {
	quote := rune(0)
	for i, r := range line {
		switch {
		case quote == 0 && r == '#':
			return line[:i]
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case r == quote:
			quote = 0
		}
	}
	return line
}

// mavenSettings are the parts of settings.xml and of a model that name
// repositories.
type mavenSettings struct {
	Mirrors []struct {
		URL string `xml:"url"`
		Of  string `xml:"mirrorOf"`
	} `xml:"mirrors>mirror"`
	Profiles []mavenRepositories `xml:"profiles>profile"`
	mavenRepositories
}

type mavenRepositories struct {
	Repositories []string `xml:"repositories>repository>url"`
	Plugins      []string `xml:"pluginRepositories>pluginRepository>url"`
}

func (r mavenRepositories) hosts() []string {
	return hostsIn(strings.Join(append(r.Repositories, r.Plugins...), " "))
}

// maven reads the mirrors and repositories of Maven's settings, the user's and
// the installation's, and the repository that is built in, unless a mirror stands
// for it.
func (t *Tools) maven(ctx context.Context) ([]string, error) {
	said, err := t.ask(ctx, "mvn", "--version")
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(said, "Maven home: ")
	installed, _, _ := strings.Cut(after, "\n")
	installed = strings.TrimSpace(strings.ReplaceAll(installed, "\x1b[m", ""))
	if !filepath.IsAbs(installed) {
		return nil, errors.New("mvn --version does not say where Maven lies")
	}
	var hosts []string
	mirrored := false
	for _, path := range []string{filepath.Join(t.Home, ".m2", "settings.xml"), filepath.Join(installed, "conf", "settings.xml")} {
		text, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var s mavenSettings
		if err := xml.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, mirror := range s.Mirrors {
			hosts = append(hosts, hostsIn(mirror.URL)...)
			mirrored = mirrored || mirrorsCentral(mirror.Of)
		}
		for _, profile := range s.Profiles {
			hosts = append(hosts, profile.hosts()...)
		}
	}
	if mirrored {
		return hosts, nil
	}
	builtIn, err := superModel(installed)
	return append(hosts, builtIn...), err
}

// mirrorsCentral reports whether a mirror's list covers the built-in repository.
func mirrorsCentral(of string) bool {
	covers := false
	for name := range strings.SplitSeq(of, ",") {
		switch strings.TrimSpace(name) {
		case "!central":
			return false
		case "*", "external:*", "central":
			covers = true
		}
	}
	return covers
}

// superModel reads the repositories of the model that all of Maven's inherit from.
func superModel(installed string) ([]string, error) {
	jars, err := filepath.Glob(filepath.Join(installed, "lib", "maven-model-builder-*.jar"))
	if err != nil || len(jars) == 0 {
		return nil, fmt.Errorf("maven: its built-in repository is not found in %s: name the hosts instead", installed)
	}
	jar, err := zip.OpenReader(jars[0])
	if err != nil {
		return nil, fmt.Errorf("read Maven's built-in repository: %w", err)
	}
	defer jar.Close() //nolint:errcheck // it was only read
	f, err := jar.Open("org/apache/maven/model/pom-4.0.0.xml")
	if err != nil {
		return nil, fmt.Errorf("read Maven's built-in repository: %w", err)
	}
	defer f.Close()
	var model mavenSettings
	if err := xml.NewDecoder(io.LimitReader(f, maxFile)).Decode(&model); err != nil {
		return nil, fmt.Errorf("read Maven's built-in repository: %w", err)
	}
	return model.hosts(), nil
}

// readFile reads a tool's file, which is an error when it is very long.
func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	return string(text), err
}
