package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func TestRuleErrors(t *testing.T) {
	root, home := project(t)
	for text, want := range map[string]string{
		"bsh(ls)":               "did you mean bash?",
		"read_fil":              "did you mean read_file?",
		"frobnicate":            "unknown tool frobnicate",
		"frob*":                 "unknown tool frob*",
		"":                      "names no tool",
		"@write(x)":             "unknown group @write",
		"bash(ls":               "not closed",
		"bash()":                "the pattern is empty",
		"bash( )":               "the pattern is empty",
		"bash('ls)":             "cannot be parsed",
		"read_file(../x)":       "may not hold ..",
		"read_file([)":          "not a valid path pattern",
		"read_file(!x)":         "no pattern takes anything back",
		"web_fetch(https://x)":  "is no host",
		"web_fetch(a b)":        "is no host",
		"web_fetch(\u202eb.de)": "is no host",
		"remember(x)":           "(field:value)",
		"remember(a:b)":         "ask and deny only",
		"*(x)":                  "tools of one kind",
	} {
		_, err := New(Config{Root: root, Home: home, Tools: knownTools(), Rules: []RuleSource{{Source: "settings.json", Allow: Rules(text)}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "settings.json: the allow rule "+text) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestRuleWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"bash(ls && rm x)":      "never matches a list",
		"bash(ls | cat)":        "one simple command",
		"bash(ls; cat)":         "one simple command",
		"bash(! ls)":            "one simple command",
		"bash(ls &)":            "one simple command",
		"bash(echo x > y)":      "never covers a redirection",
		"bash(A=1 ls)":          "assigns a variable",
		"bash(echo $(ls))":      "an expansion",
		"bash(echo $HOME)":      "an expansion",
		"bash(*)":               "every command",
		"bash":                  "every command",
		"*":                     "every call of every tool",
		"bash(ls*)":             "name begins like this",
		"bash(python *)":        "runs whatever program",
		"bash(bash *)":          "runs whatever program",
		"bash(env *)":           "runs the command in its arguments",
		"bash(sudo *)":          "runs the command in its arguments",
		"bash(xargs *)":         "runs the command in its arguments",
		"bash(find . -exec *)":  "the command that find runs",
		"bash(git commit:*)":    "git commit *",
		"bash(npm *)":           "runs other programs",
		"write_file(/etc/x)":    "can never match",
		"@edit(//**)":           "every file of the machine",
		"read_file":             "need no rule",
		"bash(git diff *)":      "",
		"bash(npm run test *)":  "",
		"bash(go test ./...)":   "",
		"write_file(src/**)":    "",
		"web_fetch(*.x.com)":    "",
		"read_file(.env.test)":  "",
		"mcp__docs__*":          "",
		"unsandboxed(make a *)": "",
		"bash(pnpm test*)":      "",
		"bash(./gradlew test)":  "",
		"bash(echo {a,b} '*')":  "",
		"move_file(docs/*.md)":  "",
		"bash(timeout 5 make)":  "",
		"edit_file(~/notes/**)": "",
	} {
		got := strings.Join(newEngine(t, allowing(text)).Warnings(), "\n")
		want = strings.Replace(want, "never matches a list", "never a list", 1)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: warnings %q, want %q", text, got, want)
		}
	}
}

// TestStars holds the star's meaning: each rule with commands it covers (+) and
// does not (-).
func TestStars(t *testing.T) {
	for rule, list := range map[string][]string{
		"bash(lint *)":              {"+lint", "+lint a", "+lint a b c", "-linter", "-lint2 a", "-lint; x", "-lint a && x", "-lint $x", "+lint -- $x", "+lint a/$x", "-lint -$x", "-lint > x", "-lint | x", "-lint $(x)", "+lint './a b'"},
		"bash(lint* a)":             {"+linter a", "+lint a", "-lint a b", "-lint/x a"},
		"bash(lint run*)":           {"+lint run", "+lint run a b", "+lint running a", "+lint run:all --x", "-lint", "-lint ru", "-lint run; x"},
		"bash(lint run *)":          {"+lint run", "+lint run a", "-lint run:x", "-lint runx"},
		"bash(lint run:*)":          {"+lint run:x", "+lint run:x y", "-lint run"},
		"bash(lint * b)":            {"+lint b", "+lint a b", "+lint a c b", "-lint a", "-lint b c"},
		"bash(lint a*b)":            {"+lint ab", "+lint axxb", "+lint 'a x b'", "-lint a b", "-lint ba"},
		"bash(lint '*')":            {"+lint '*'", "+lint \\*", "-lint a", "-lint *"},
		"bash(lint 'a b')":          {"+lint 'a b'", "+lint a\\ b", "+lint \"a b\"", "-lint a b"},
		"bash(lint {a,b})":          {"+lint a b", "+lint {a,b}", "-lint a"},
		"bash(lint)":                {"+lint", "+'lint'", "+l\\int", "+timeout 5 lint", "+nice -n 3 lint", "-lint a", "-/bin/lint", "-./lint", "-sudo lint", "-env lint", "-x=1 lint", "-command lint", "-timeout --foo 5 lint", "-timeout $x lint"},
		"bash(./lint *)":            {"+./lint a", "-lint a", "-/x/lint a", "-../lint a"},
		"bash(./bin/* a)":           {"+./bin/x a", "-./bin/../x a", "-./other/x a", "-x a"},
		"bash(* --version)":         {"+lint --version", "+a b --version", "-./lint --version", "-python -c x --version"},
		"bash(*)":                   {"+lint", "+lint a b", "-./lint", "-x=1 lint", "-eval lint", "-sudo lint", "-lint $x", "-python3 -c x"},
		"bash(find *)":              {"+find /x -name a", "-find /x -delete", "-find . -exec lint {} +", "-find . -fprint x"},
		"bash(find * -delete)":      {"+find /x -delete", "-find . -exec lint -delete", "-find . -delete -delete"},
		"bash(find . -exec lint *)": {"+find . -exec lint {} +", "-find . -exec lint {} ; -exec rm {} +", "-find . -exec lint {} + -delete"},
		"bash(sed *)":               {"+sed s/a/b/ /x", "-sed -i s/a/b/ f", "-sed w f", "-sed -f x f", "-sed -n -e p -e 'w x' f"},
		"bash(sed -i *)":            {"+sed -i s/a/b/ f", "-sed -i 'w x' f", "-sed -i -f x f", "-sed -i.bak p f"},
		"bash(sed -i.* s/a/b/ *)":   {"+sed -i.bak s/a/b/ f"},
		"bash(sort *)":              {"+sort /x", "-sort -o x f", "-sort f -ox", "-sort --output x f", "-sort --comp=x f"},
		"bash(sort -o *)":           {"+sort -o x f", "-sort -o x -T y f"},
		"bash(sort --output=* f)":   {"+sort --output=x f", "-sort --output=x --compress-program=y f"},
		"bash(sort --out* f)":       {"-sort --output=x f"},
		"bash(git diff *)":          {"+git diff --no-index a b", "-git diff --output=x", "-git diff --ext-diff", "-git -c x=y diff"},
		"bash(git diff --output=*)": {"+git diff --output=x", "+git diff --output=x HEAD", "-git diff --output=x --ext-diff"},
		"bash(git *)":               {"+git add f", "-git -c core.pager=x log", "-git config a b", "-git -C x log", "-git difftool", "-git bisect run x", "-git clone ext::sh x"},
		"bash(git -c * log)":        {"+git -c a=b log", "-git -c a=b -c c=d diff"},
		"bash(rg *)":                {"+rg -f /x y", "-rg --pre x y", "-rg --pre=x y", "-rg -z x"},
		"bash(grep *)":              {"+grep -r x /y", "+grep -f x y"},
		"bash(go *)":                {"+go vet ./...", "-go test -exec x", "-go build -o x", "-go env -w A=b", "-go test -args x"},
		"bash(go test -exec *)":     {"+go test -exec x ./...", "-go test -exec x -o y"},
		"bash(npm run *)":           {"+npm run test", "+npm run test -- --any=x", "-npm run test --script-shell=x", "-npm run --prefix x test"},
		"bash(npm *)":               {"+npm ci", "-npm exec x", "-npm x y", "-npm config set a b"},
		"bash(node *)":              {"+node x.js -r y", "-node -r x y.js", "-node -e x", "-node --import x y.js"},
		"bash(python *)":            {"+python x.py -c y", "-python -c x", "-python -m x", "-python -"[:0] + "-python -W x y.py"},
		"bash(python -m pytest *)":  {"+python -m pytest -q", "-python -m other"},
		"bash(xargs *)":             {"-xargs rm", "-xargs -n 1 lint", "+xargs"},
		"bash(xargs lint *)":        {"+xargs lint a", "-xargs -n 1 lint", "-xargs rm"},
		"bash(tee *)":               {"-tee x", "-tee -a x", "+tee"},
		"bash(tee x)":               {"+tee x", "-tee y"},
		"bash(env *)":               {"+env", "-env lint", "-env A=b", "-env -S 'x y'", "+env -i"},
		"bash(env A=b lint *)":      {"+env A=b lint c", "-env A=c lint"},
		"bash(make *)":              {"+make test", "+make -j4 test", "-make -f x", "-make A=b", "-make -C x", "-make --eval=x", "-make $x"},
		"bash(make -C * test)":      {"+make -C x test", "-make -C x -f y test"},
		"bash(cargo *)":             {"+cargo test", "-cargo --config x test", "-cargo +nightly test", "-cargo test --manifest-path x", "-cargo test --target-d x"},
		"bash(tar *)":               {"+tar tf /x", "-tar xf x", "-tar cf x y", "-tar -xf x", "-tar tf x --to-command=y", "-tar tf x -I y"},
		"bash(tar xf *)":            {"+tar xf x", "-tar xf x --to-command=y"},
		"bash(awk *)":               {"+awk '{print}' /x", "-awk 'BEGIN{system(1)}'", "-awk -f x y", "-awk -i inplace 1 f"},
		"bash(uniq *)":              {"+uniq /x", "-uniq a b", "-uniq - b"},
		"bash(bash *)":              {"+bash x.sh", "-bash -c x", "-bash -lc x", "-bash --rcfile x y"},
		"bash(timeout *)":           {"-timeout 5 rm x", "-timeout 5 lint"},
		"bash(timeout 5 lint *)":    {"+timeout 5 lint a", "-timeout 5 rm"},
		"bash(printf *)":            {"+printf '%s' /x", "-printf -v x y", "-printf %n x"},
	} {
		e := newEngine(t, allowing(rule))
		for _, c := range list {
			want, text := c[0] == '+', c[1:]
			d := e.Explain(command(text))
			if got := d.Outcome == tool.Allow; got != want {
				t.Errorf("%s: %q: got %s by %s (%s)", rule, text, d.Outcome, d.By, d.Reason)
			}
		}
	}
}

func TestPathPatterns(t *testing.T) {
	for rule, list := range map[string][]string{
		"write_file(a.md)":         {"+a.md", "+x/a.md", "+x/y/a.md", "-a.mdx", "-ba.md", "-//tmp/a.md"},
		"write_file(*.md)":         {"+a.md", "+x/a.md", "-a.md.x", "-//tmp/a.md"},
		"write_file(/a.md)":        {"+a.md", "-x/a.md"},
		"write_file(./a.md)":       {"+a.md", "+x/a.md"},
		"write_file(x/*)":          {"+x/a", "-x/y/a", "-z/x/a", "-a"},
		"write_file(x/**)":         {"+x/a", "+x/y/a", "-z/x/a", "-xx/a"},
		"write_file(x/)":           {"+x/a", "+x/y/a", "+z/x/a", "-xx/a"},
		"write_file(**/x/*.go)":    {"+x/a.go", "+y/x/a.go", "-x/a.rs"},
		"write_file(x?.go)":        {"+xa.go", "-xab.go", "-x.go"},
		"write_file(**)":           {"+a", "+x/y/a", "-//tmp/a"},
		"write_file(//tmp/x/**)":   {"+//tmp/x/a", "-//tmp/y", "-tmp/x/a"},
		"write_file(~/notes/*.md)": {"+~/notes/a.md", "-~/notes/x/a.md", "-notes/a.md"},
		`write_file(\!x)`:          {"+!x", "-x"},
		"write_file({a,b}.go)":     {"+a.go", "+b.go", "-c.go"},
	} {
		e := newEngine(t, allowing(rule))
		for _, c := range list {
			want, path := c[0] == '+', c[1:]
			if rest, ok := strings.CutPrefix(path, "//"); ok {
				path = "/" + rest
			} else if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(e.cfg.Home, rest)
			}
			if d := e.Explain(fileCall(e, "write_file", path)); (d.Outcome == tool.Allow) != want {
				t.Errorf("%s: %s: got %s by %s", rule, path, d.Outcome, d.By)
			}
		}
	}
	// A rule that refuses also reaches what lies below a folder, and outside.
	e := newEngine(t, configure(withYolo, denying("write_file(vendor)", "write_file(*.lock)")))
	for path, want := range map[string]tool.Outcome{"vendor/a/b": tool.Deny, "x/vendor/a": tool.Deny, "/tmp/x.lock": tool.Deny, "vendors/a": tool.Allow} {
		if d := e.Explain(fileCall(e, "write_file", path)); d.Outcome != want {
			t.Errorf("%s: got %s", path, d.Outcome)
		}
	}
}

func TestHostPatterns(t *testing.T) {
	for rule, list := range map[string][]string{
		"web_fetch(x.com)":   {"+x.com", "+X.COM", "+x.com.", "-a.x.com", "-xx.com", "-x.com.evil.org"},
		"web_fetch(*.x.com)": {"+a.x.com", "+a.b.x.com", "-x.com", "-ax.com"},
		"web_fetch(*)":       {"+x.com"},
		"web_fetch":          {"+x.com"},
	} {
		e := newEngine(t, allowing(rule))
		for _, c := range list {
			if d := e.Explain(urlCall(c[1:])); (d.Outcome == tool.Allow) != (c[0] == '+') {
				t.Errorf("%s: %s: got %s by %s", rule, c, d.Outcome, d.By)
			}
		}
	}
}

func TestExamples(t *testing.T) {
	root, home := project(t)
	try := func(list func(*RuleSource, Rule), r Rule) error {
		src := RuleSource{Source: "s"}
		list(&src, r)
		_, err := New(Config{Root: root, Home: home, Tools: knownTools(), Rules: []RuleSource{src}})
		return err
	}
	allow := func(s *RuleSource, r Rule) { s.Allow = []Rule{r} }
	deny := func(s *RuleSource, r Rule) { s.Deny = []Rule{r} }
	for _, c := range []struct {
		list func(*RuleSource, Rule)
		rule Rule
		want string
	}{
		{allow, Rule{Text: "bash(go test *)", Match: []string{"go test ./..."}, NotMatch: []string{"go test ./... && rm x", "go test -exec x"}}, ""},
		{allow, Rule{Text: "bash(go test *)", Match: []string{"go vet"}}, `does not match its example "go vet"`},
		{allow, Rule{Text: "bash(go test *)", NotMatch: []string{"go test x"}}, `it matches "go test x"`},
		{deny, Rule{Text: "bash(rm *)", Match: []string{"ls; sudo rm x"}, NotMatch: []string{"echo rm"}}, ""},
		{deny, Rule{Text: "read_file(*.sql)", Match: []string{"a/b.sql"}, NotMatch: []string{"b.txt"}}, ""},
		{allow, Rule{Text: "web_fetch(*.x.com)", Match: []string{"a.x.com"}, NotMatch: []string{"x.com"}}, ""},
	} {
		err := try(c.list, c.rule)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.rule.Text, err, c.want)
		}
	}
}

func TestRuleBoundToFiles(t *testing.T) {
	e := newEngine(t, func(c *Config) {
		script := filepath.Join(c.Root, "run.sh")
		if err := os.WriteFile(script, []byte("x"), 0o755); err != nil {
			t.Fatal(err)
		}
		sum, err := hashFile(script)
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = []RuleSource{{Source: "user", Allow: []Rule{{Text: "bash(sh run.sh)", Files: map[string]string{"run.sh": "sha256:" + sum}}}}}
	})
	if d := e.Decide(command("sh run.sh")); d.Outcome != tool.Allow {
		t.Errorf("got %s: %s", d.Outcome, d.Reason)
	}
	if err := os.WriteFile(filepath.Join(e.root.given, "run.sh"), []byte("y"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d := e.Decide(command("sh run.sh")); d.Outcome != tool.Ask {
		t.Errorf("after a change: got %s", d.Outcome)
	}
}

func TestListRules(t *testing.T) {
	e := newEngine(t, configure(allowing("bash(make *)"), denying("bash(rm *)")))
	answer(t, e, command("foo | bar"), tool.AnswerSession)
	answer(t, e, fileCall(e, "write_file", "src/a"), tool.AnswerSession)
	want := []ListedRule{
		{Kind: "deny", Rule: "bash(rm *)", Source: "user"},
		{Kind: "allow", Rule: "bash(make *)", Source: "user", Findings: []string{"it covers more than it looks: with any arguments make runs other programs"}},
		{Kind: "allow", Rule: "write_file(src/**)", Source: "this session"}, {Kind: "allow", Rule: "bash(foo | bar)", Source: "this session"},
	}
	if diff := cmp.Diff(want, e.Rules()); diff != "" {
		t.Error(diff)
	}
}

// TestFindings: what a person should know of a rule, in each of its kinds.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  func(*Config)
		rule string
		want string // "" for none
	}{
		{"nothing", allowing("bash(go test ./...)"), "bash(go test ./...)", ""},
		{"broad", allowing("bash(python *)"), "bash(python *)", "runs whatever program"},
		{"dead", denying("bash(a && b)"), "bash(a && b)", "it can never match"},
		{"of no field", denying("remember(knd:fact)"), "remember(knd:fact)", `it can never match: there is no field "knd"; there are kind, text`},
		{"of a field", denying("remember(kind:fact)"), "remember(kind:fact)", ""},
		{"of a server's field", denying("mcp__a__b(x:y)"), "mcp__a__b(x:y)", ""},
		{"refused", configure(allowing("bash(x)"), denying("bash(x)")), "bash(x)", "it never counts: the deny rule bash(x) (user) comes before it"},
		{"refused by the tool", configure(allowing("write_file(a/**)"), denying("@edit")), "write_file(a/**)", "the deny rule @edit (user)"},
		{"asked", configure(allowing("bash(x)"), asking("bash")), "bash(x)", "the ask rule bash (user)"},
		{"an ask rule refused", configure(asking("mcp__a__b"), denying("mcp__a")), "mcp__a__b", "the deny rule mcp__a (user)"},
		{"refused in part", configure(allowing("bash(x *)"), denying("bash(x y)")), "bash(x *)", ""},
		{"git as it is", allowing("bash(git diff *)"), "bash(git diff *)", "git diff then runs with the repository's own configuration"},
		{"other git", allowing("bash(git commit *)"), "bash(git commit *)", ""},
		{"secrets", allowing("read_file(.env.test)"), "read_file(.env.test)", "it opens a file that holds secrets"},
		{"secrets below", allowing("@read(config/*.pem)"), "@read(config/*.pem)", "it opens a file that holds secrets"},
		{"protected", allowing("@edit(AGENTS.md)"), "@edit(AGENTS.md)", "decides what other programs run"},
		{"neither", allowing("@edit(**)"), "@edit(**)", ""},
		{"changed script", func(c *Config) {
			c.Rules = []RuleSource{{Source: "user", Allow: []Rule{{Text: "bash(sh f)", Files: map[string]string{"f": "sha256:" + strings.Repeat("0", 64)}}}}}
		}, "bash(sh f)", "it does not count now: f changed"},
	} {
		e := newEngine(t, c.cfg)
		found := false
		for _, l := range e.Rules() {
			if l.Rule != c.rule || found {
				continue
			}
			if l.Kind == "deny" && c.name == "refused" {
				continue
			}
			found = true
			got := strings.Join(l.Findings, "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s: findings %q, want %q", c.name, c.rule, got, c.want)
			}
		}
		if !found {
			t.Errorf("%s: %s is not listed", c.name, c.rule)
		}
	}
	// A script that an answer of the session is bound to.
	e := newEngine(t, nil)
	answer(t, e, command("sh f"), tool.AnswerSession)
	if err := os.WriteFile(filepath.Join(e.root.given, "f"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l := e.Rules(); len(l) != 1 || len(l[0].Findings) != 1 {
		t.Errorf("%+v", l)
	}
	team := newEngine(t, configure(forTeam, func(c *Config) { c.Team.RequireSandbox, c.Team.RequiredBy = true, "p" })).Rules()
	want := []ListedRule{
		{Kind: "team", Rule: "no command without a sandbox", Source: "p"}, {Kind: "team", Rule: "no command nc *", Source: "p"},
		{Kind: "team", Rule: "no path secret/", Source: "p"}, {Kind: "team", Rule: "no host *.evil.example", Source: "p"},
	}
	if diff := cmp.Diff(want, team); diff != "" {
		t.Error(diff)
	}
}
