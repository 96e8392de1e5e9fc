package workspace

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/editorconfig/editorconfig-core-go/v2"

	"garuda/internal/workspace/ignore"
)

// NewFileStyle is how a new text file in this place is written: as
// .editorconfig says, then .gitattributes, then as the files beside it are, else
// UTF-8 with LF. Only those files inside the workspace are asked.
func (w *Workspace) NewFileStyle(p Path) Style {
	style := Style{Newline: LF, Mostly: LF}
	found := w.fromEditorconfig(p, &style)
	if !found {
		found = w.fromGitattributes(p, &style)
	}
	if !found {
		w.fromSiblings(p, &style)
	}
	return style
}

// NewText is an empty text in the style of a new file in this place.
func (w *Workspace) NewText(p Path) *Text {
	t := &Text{Style: w.NewFileStyle(p)}
	if t.Encoding.legacy() {
		t.declared = t.Encoding
	}
	return t
}

func (s *Style) setNewline(n Newline) { s.Newline, s.Mostly = n, n }

// foldersAbove lists the folders from the one that holds p up to the mount.
func foldersAbove(p Path) []string {
	var out []string
	for dir := p.rel; dir != "."; {
		dir, _ = splitRel(dir)
		out = append(out, dir)
	}
	return out
}

// readSettings reads a small file of the project; nil when it is not there.
func (p Path) readSettings(rel string) []byte {
	f, info, err := p.mount.dir.open(rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	raw, err := readUpTo(f, info.Size, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return raw
}

// editorconfig is what .editorconfig says of the path, in lower case. The
// nearest file that names a property wins, and one with root = true is the last.
func (p Path) editorconfig() (charset, newline string) {
	for _, dir := range foldersAbove(p) {
		raw := p.readSettings(joinRel(dir, ".editorconfig"))
		if raw == nil {
			continue
		}
		config, err := editorconfig.Parse(bytes.NewReader(raw))
		if err != nil {
			continue // a broken file settles nothing
		}
		name := strings.TrimPrefix(p.rel, strings.TrimPrefix(dir+"/", "./"))
		def, err := config.GetDefinitionForFilename(name)
		if err == nil && charset == "" {
			charset = strings.ToLower(def.Charset)
		}
		if err == nil && newline == "" {
			newline = strings.ToLower(def.EndOfLine)
		}
		if config.Root {
			break
		}
	}
	return charset, newline
}

// declaredCharset is the legacy charset that .editorconfig gives, else UTF8. It is
// asked for with each file that is read, and few projects name such a charset: the
// settings are parsed, which takes many times as long as reading them, only there.
func (p Path) declaredCharset() Encoding {
	if p.mount == nil || !slices.ContainsFunc(foldersAbove(p), func(dir string) bool {
		return namesLegacyCharset(p.readSettings(joinRel(dir, ".editorconfig")))
	}) {
		return UTF8
	}
	charset, _ := p.editorconfig()
	enc, _ := charsetLabeled(charset)
	return enc
}

// fromEditorconfig reports whether .editorconfig settles the newline style.
func (w *Workspace) fromEditorconfig(p Path, style *Style) bool {
	charset, newline := p.editorconfig()
	switch charset {
	case editorconfig.CharsetUTF8BOM:
		style.BOM = true
	case editorconfig.CharsetUTF16LE:
		style.Encoding, style.BOM = UTF16LE, true
	case editorconfig.CharsetUTF16BE:
		style.Encoding, style.BOM = UTF16BE, true
	default:
		style.Encoding, _ = charsetLabeled(charset)
	}
	switch newline {
	case editorconfig.EndOfLineCrLf:
		style.setNewline(CRLF)
	case editorconfig.EndOfLineLf:
		style.setNewline(LF)
	default:
		return false
	}
	return true
}

// fromGitattributes reports whether an eol attribute settles the newline style.
// The nearest file that says something of the path wins, in it the last line.
func (w *Workspace) fromGitattributes(p Path, style *Style) bool {
	for _, dir := range foldersAbove(p) {
		raw := p.readSettings(joinRel(dir, ".gitattributes"))
		name := strings.TrimPrefix(p.rel, strings.TrimPrefix(dir+"/", "./"))
		found := false
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			eol, ok := eolAttribute(string(line), name)
			if !ok {
				continue
			}
			found = true
			if style.setNewline(LF); eol == "crlf" {
				style.setNewline(CRLF)
			}
		}
		if found {
			return true
		}
	}
	return false
}

// eolAttribute reads one line "pattern attribute…" and returns its eol value
// when the pattern is for the path.
func eolAttribute(line, path string) (eol string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.HasPrefix(fields[0], "#") || strings.HasPrefix(fields[0], "!") {
		return "", false
	}
	for _, attribute := range fields[1:] {
		if value, found := strings.CutPrefix(attribute, "eol="); found && (value == "lf" || value == "crlf") {
			eol = value
		}
	}
	if eol == "" || strings.HasSuffix(fields[0], "/") {
		return "", false
	}
	return eol, ignore.Parse([]byte(fields[0]), foldsCase).Match(path, false) == ignore.Ignore
}

// fromSiblings takes the newline style that most files beside it have, those
// with the same ending first.
func (w *Workspace) fromSiblings(p Path, style *Style) {
	const asked = 8
	dir, name := splitRel(p.rel)
	entries, err := list(p.mount.dir, dir)
	if err != nil {
		return // the folder is new
	}
	ext := filepath.Ext(name)
	for _, same := range []bool{true, false} {
		votes, left := 0, asked
		for _, e := range entries {
			if left == 0 {
				break
			}
			if e.kind != KindFile || (filepath.Ext(e.name) == ext) != same {
				continue
			}
			left--
			switch p.newlineOf(joinRel(dir, e.name)) {
			case CRLF:
				votes++
			case LF:
				votes--
			}
		}
		switch {
		case votes > 0:
			style.setNewline(CRLF)
			return
		case votes < 0:
			return
		}
	}
}

// newlineOf looks at a file's beginning.
func (p Path) newlineOf(rel string) Newline {
	f, _, err := p.mount.dir.open(rel)
	if err != nil {
		return NoNewline
	}
	defer f.Close()
	head := make([]byte, binaryHead)
	n, err := f.Read(head)
	if err != nil || IsBinary(head[:n]) {
		return NoNewline
	}
	t := Decode(head[:n])
	if t.Newline == NoNewline {
		return NoNewline
	}
	return t.Mostly
}
