package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/sandbox"
)

// prepare finds out what does not depend on the command.
func (b *Builder) prepare(ctx context.Context) error {
	s := b.shared
	s.fixed, s.writes = nil, nil
	entries, links, err := system()
	if err != nil {
		return fmt.Errorf("find the system's folders: %w", err)
	}
	etc, err := b.etc("/etc")
	if err != nil {
		return fmt.Errorf("copy the system's settings: %w", err)
	}
	entries = append(entries, etc...)
	entries = append(entries, b.session.private()...)
	for _, dir := range b.opt.Added {
		entries = append(entries, sandbox.Entry{Path: dir, Access: sandbox.ReadOnly, Why: "an added folder"})
	}
	for _, p := range b.opt.Read {
		e, err := b.readable(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			b.leave(p.Path, "it does not exist")
		case err != nil:
			return fmt.Errorf("show %s to commands: %w", p.Why, err)
		default:
			entries = append(entries, e)
		}
	}
	writes, err := b.writePaths()
	if err != nil {
		return err
	}
	entries = append(entries, writes...)
	for _, path := range b.opt.UnixSockets {
		real, err := follow(path)
		if err != nil {
			b.leave(path, err.Error())
			continue
		}
		entries = append(entries, sandbox.Entry{Path: path, Source: source(path, real), Access: sandbox.ReadOnly, Why: "a socket of the settings"})
	}
	entries = append(entries, b.toolchains(ctx)...)
	s.fixed, s.links = settleFixed(entries), links
	return nil
}

func source(path, real string) string {
	if path == real {
		return ""
	}
	return real
}

// settleFixed leaves out what is as the folder above it, once and not for each command.
func settleFixed(entries []sandbox.Entry) []sandbox.Entry { return slices.Clip(settle(entries, "")) }

// writePaths are the folders and files of sandbox.writePaths, at their real paths.
func (b *Builder) writePaths() ([]sandbox.Entry, error) {
	var out []sandbox.Entry
	for _, setting := range b.opt.WritePaths {
		path := setting
		switch rest, home := strings.CutPrefix(setting, "~/"); {
		case home || setting == "~":
			if b.rules.home == "" {
				return nil, fmt.Errorf("sandbox.writePaths: %s: the home folder is not known", setting)
			}
			path = filepath.Join(b.rules.home, strings.TrimPrefix(rest, "~"))
		case !filepath.IsAbs(setting):
			path = filepath.Join(b.opt.Root, setting)
		}
		real, err := b.rules.named(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			b.leave(path, "sandbox.writePaths names it, and it does not exist")
			continue
		case err != nil:
			return nil, fmt.Errorf("sandbox.writePaths: %w", err)
		}
		b.shared.writes = append(b.shared.writes, real)
		out = append(out, b.shown(path, real, sandbox.Writable, "sandbox.writePaths")...)
	}
	return out, nil
}

// leave notes what is not in the view, for people.
func (b *Builder) leave(path, why string) {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	l := Left{path, strings.TrimPrefix(why, path+": ")}
	if !slices.Contains(b.shared.left, l) {
		b.shared.left = append(b.shared.left, l)
	}
}
