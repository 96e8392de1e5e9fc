package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// judge compares a JSON value with a type of an SDK and lists what does not fit.
// The SDKs' types carry their API's description in tags: what is required, which
// constant a member holds, which of several kinds a union may be.
func judge(t reflect.Type, v any, path string) []string {
	complain := func(format string, args ...any) []string {
		return []string{path + ": " + fmt.Sprintf(format, args...)}
	}
	if t.Kind() == reflect.Pointer {
		return judge(t.Elem(), v, path)
	}
	if strings.HasPrefix(t.Name(), "Opt[") {
		if v == nil {
			return nil
		}
		value, _ := t.FieldByName("Value")
		return judge(value.Type, v, path)
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return complain("a duration is not judged here")
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return nil // any JSON
	case v == nil:
		return complain("null for a %s", t)
	case t == reflect.TypeFor[[]byte]():
		s, ok := v.(string)
		if _, err := base64.StdEncoding.DecodeString(s); !ok || err != nil {
			return complain("%.60v is not base64", v)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		if isUnion(t) {
			return judgeUnion(t, v, path)
		}
		return judgeObject(t, v, path)
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok {
			return complain(otherKind+"%T for a list of %s", v, t.Elem())
		}
		var out []string
		for i, e := range list {
			out = append(out, judge(t.Elem(), e, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return out
	case reflect.Map:
		object, ok := v.(map[string]any)
		if !ok {
			return complain(otherKind+"%T for %s", v, t)
		}
		var out []string
		for _, k := range sortedKeys(object) {
			out = append(out, judge(t.Elem(), object[k], path+"."+k)...)
		}
		return out
	}
	return judgeScalar(t, v, complain)
}

func judgeScalar(t reflect.Type, v any, complain func(string, ...any) []string) []string {
	switch t.Kind() {
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			return complain(otherKind+"%T for the string %s", v, t)
		}
		if known := wordsOf(t); len(known) > 0 && !slices.Contains(known, s) {
			return complain("%q is none of %q (%s)", s, known, t)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return complain("%T for a boolean", v)
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, ok := v.(json.Number)
		if _, err := strconv.ParseInt(string(n), 10, t.Bits()); !ok || err != nil {
			return complain("%v for a %s", v, t)
		}
	case reflect.Float32, reflect.Float64:
		if _, ok := v.(json.Number); !ok {
			return complain("%T for a number", v)
		}
	default:
		return complain("a %s is not judged here", t)
	}
	return nil
}

func isUnion(t reflect.Type) bool {
	for i := range t.NumField() {
		if strings.Contains(t.Field(i).Tag.Get("json"), ",inline") {
			return true
		}
	}
	return false
}

// judgeUnion takes the kind that fits best.
func judgeUnion(t reflect.Type, v any, path string) []string {
	best, first := []string{path + ": no kind of " + t.String()}, true
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			continue
		}
		found := judge(f.Type, v, path)
		if len(found) == 0 {
			return nil
		}
		if first || rank(found, path) < rank(best, path) {
			best, first = found, false
		}
	}
	return best
}

// rank is small for the kind that was meant: one whose type is another word, or
// that is no object or no list where the value is one, is none.
func rank(complaints []string, path string) int {
	n := len(complaints)
	for _, c := range complaints {
		if strings.HasPrefix(c, path+".type: ") || strings.HasPrefix(c, path+": "+otherKind) {
			n += 1000
		}
	}
	return n
}

// otherKind begins a complaint about a value that is no such thing at all.
const otherKind = "not of its kind: "

func judgeObject(t reflect.Type, v any, path string) []string {
	object, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: "+otherKind+"%T for %s", path, v, t)}
	}
	var out []string
	known, open := map[string]bool{}, false
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		open = open || f.Tag.Get("api") == "extrafields"
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue
		}
		known[name] = true
		member, there := object[name]
		switch word := f.Tag.Get("default"); {
		case !there:
			if f.Tag.Get("api") == "required" || word != "" {
				out = append(out, path+": no "+name+", which "+t.String()+" requires")
			}
		case word != "":
			if member != any(word) {
				out = append(out, fmt.Sprintf("%s.%s: %v, not %q", path, name, member, word))
			}
		default:
			out = append(out, judge(f.Type, member, path+"."+name)...)
		}
	}
	for _, k := range sortedKeys(object) {
		if !known[k] && !open {
			out = append(out, path+": "+t.String()+" has no "+k)
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// wordsOf lists the constants that the SDK's source declares of a string type.
func wordsOf(t reflect.Type) []string {
	if t.PkgPath() == "" {
		return nil
	}
	return constantsOf(t.PkgPath())[t.Name()]
}

var (
	constantsMu sync.Mutex
	constants   = map[string]map[string][]string{} // package, type, words
)

func constantsOf(pkg string) map[string][]string {
	constantsMu.Lock()
	defer constantsMu.Unlock()
	if constants[pkg] == nil {
		found, err := readConstants(pkg)
		if err != nil {
			panic(fmt.Sprintf("read the constants of %s: %v", pkg, err))
		}
		constants[pkg] = found
	}
	return constants[pkg]
}

func readConstants(pkg string) (map[string][]string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				c, _ := spec.(*ast.ValueSpec)
				typ, isName := c.Type.(*ast.Ident)
				if !isName || len(c.Values) != 1 {
					continue
				}
				if lit, ok := c.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					word, err := strconv.Unquote(lit.Value)
					if err != nil {
						return nil, err
					}
					out[typ.Name] = append(out[typ.Name], word)
				}
			}
		}
	}
	return out, nil
}

// parse reads one JSON value, numbers as they are written. A member that comes
// twice in one object is an error: readers differ in which one they take.
func parse(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something behind the value")
	}
	return v, nil
}

func parseValue(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := parseValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	case json.Delim('{'):
		object := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("the member %q comes twice", name)
			}
			if object[name], err = parseValue(dec); err != nil {
				return nil, err
			}
		}
		_, err = dec.Token()
		return object, err
	}
	return tok, nil
}
