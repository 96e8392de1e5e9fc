package hl

// tables are the languages by their usual names.
func tables() map[string]syntax {
	all := map[string]syntax{}
	for _, group := range []func() map[string]syntax{systems, managed, scripts, functional, data} {
		for name, s := range group() {
			all[name] = s
		}
	}
	return all
}

const cKeywords = "if else for while do switch case default break continue return goto sizeof typedef struct union enum static extern inline const volatile register restrict"

func systems() map[string]syntax {
	return map[string]syntax{
		"go": {
			files:     "golang go.mod",
			keywords:  "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var module require replace exclude retract toolchain",
			types:     "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint uint16 uint32 uint64 uint8 uintptr",
			constants: "true false nil iota",
			builtins:  "append cap clear close complex copy delete imag len make max min new panic print println real recover",
			comments:  []string{"//"}, spans: []span{block("/*", "*/"), quoted(`"`), raw("`", "`"), char()},
		},
		"c": {
			files: "h", keywords: cKeywords + " _Atomic _Generic _Noreturn _Static_assert _Thread_local",
			types:     "void char short int long float double signed unsigned bool _Bool size_t ssize_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t FILE",
			constants: "NULL true false", comments: []string{"//"}, preprocessor: true,
			spans: []span{block("/*", "*/"), quoted(`"`), char()},
		},
		"c++": {
			files:     "cpp cc cxx hpp hh hxx ino",
			keywords:  cKeywords + " alignas alignof asm catch class co_await co_return co_yield concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export final friend import module mutable namespace new noexcept operator override private protected public reinterpret_cast requires static_assert static_cast template this throw try typeid typename using virtual",
			types:     "void char char8_t char16_t char32_t wchar_t short int long float double signed unsigned bool auto size_t string vector map set",
			constants: "nullptr NULL true false", comments: []string{"//"}, preprocessor: true, upperTypes: true,
			spans: []span{block("/*", "*/"), raw(`R"(`, `)"`), quoted(`"`), char()},
		},
		"rust": {
			files:     "rs",
			keywords:  "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self static struct super trait type union unsafe use where while",
			types:     "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize",
			constants: "true false None Some Ok Err Self", comments: []string{"//"}, upperTypes: true, bang: true,
			spans: []span{
				nestedBlock("/*", "*/"), {open: "r", role: stringRole, lines: true, hashes: true}, {open: "br", role: stringRole, lines: true, hashes: true},
				long(`"`, `"`), char(),
			},
		},
		"zig": {
			keywords:  "addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
			types:     "bool void noreturn type anyerror isize usize u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64",
			constants: "true false null undefined", comments: []string{"//"}, letters: "@",
			spans: []span{quoted(`"`), char()},
		},
		"swift": {
			keywords: "actor any as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate final for func guard if import in indirect init inout internal is isolated lazy let mutating nonisolated open operator override private protocol public repeat required rethrows return self some static struct subscript super switch throw throws try typealias var weak where while",
			types:    "Int Double Float Bool String Character Array Dictionary Set Void", constants: "true false nil Self",
			comments: []string{"//"}, upperTypes: true, letters: "@#",
			spans: []span{nestedBlock("/*", "*/"), long(`"""`, `"""`), quoted(`"`)},
		},
	}
}

func managed() map[string]syntax {
	return map[string]syntax{
		"java": {
			keywords: "abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new package permits private protected public record return sealed static strictfp super switch synchronized this throw throws transient try var volatile when while yield",
			types:    "boolean byte char double float int long short void", constants: "true false null",
			comments: []string{"//"}, upperTypes: true, letters: "@",
			spans: []span{block("/*", "*/"), long(`"""`, `"""`), quoted(`"`), char()},
		},
		"kotlin": {
			files:     "kt kts",
			keywords:  "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias val value var vararg when where while",
			constants: "true false null", comments: []string{"//"}, upperTypes: true, letters: "@",
			spans: []span{nestedBlock("/*", "*/"), raw(`"""`, `"""`), quoted(`"`), char()},
		},
		"c#": {
			files:     "cs csharp",
			keywords:  "abstract add as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach from get global goto group if implicit in init interface internal into is join let lock nameof namespace new not operator or orderby out override params partial private protected public readonly record ref remove required return sealed select set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using value var virtual volatile when where while with yield",
			types:     "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort void",
			constants: "true false null", comments: []string{"//"}, upperTypes: true, preprocessor: true,
			spans: []span{block("/*", "*/"), raw(`"""`, `"""`), {open: `@"`, end: `"`, role: stringRole, doubled: true, lines: true}, quoted(`$"`), quoted(`"`), char()},
		},
		"scala": {
			files:     "sc sbt",
			keywords:  "abstract case catch class def derives do else end enum export extends extension final finally for forSome given if implicit import infix inline lazy match new object opaque open override package private protected return sealed super then this throw trait transparent try type using val var while with yield",
			constants: "true false null", comments: []string{"//"}, upperTypes: true, letters: "@",
			spans: []span{nestedBlock("/*", "*/"), raw(`"""`, `"""`), quoted(`"`), char()},
		},
		"dart": {
			keywords: "abstract as assert async await base break case catch class const continue covariant default deferred do dynamic else enum export extends extension external factory final finally for get hide if implements import in interface is late library mixin new on operator part required rethrow return sealed set show static super switch sync this throw try typedef var when while with yield",
			types:    "bool double int num void String List Map Set", constants: "true false null",
			comments: []string{"//"}, upperTypes: true, letters: "@",
			spans: []span{nestedBlock("/*", "*/"), long(`"""`, `"""`), long(`'''`, `'''`), quoted(`"`), quoted(`'`)},
		},
		"javascript": {
			files:    "js jsx mjs cjs node",
			keywords: jsKeywords, constants: jsConstants, comments: []string{"//"}, letters: "$", upperTypes: true, regexps: true,
			spans: []span{block("/*", "*/"), long("`", "`"), quoted(`"`), quoted(`'`)},
		},
		"typescript": {
			files:    "ts tsx mts cts",
			keywords: jsKeywords + " abstract as asserts declare enum implements infer interface is keyof module namespace override private protected public readonly satisfies type unique",
			types:    "any bigint boolean never number object string symbol unknown void", constants: jsConstants,
			comments: []string{"//"}, letters: "$@", upperTypes: true, regexps: true,
			spans: []span{block("/*", "*/"), long("`", "`"), quoted(`"`), quoted(`'`)},
		},
	}
}

const (
	jsKeywords  = "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super switch this throw try typeof var void while with yield"
	jsConstants = "true false null undefined NaN Infinity"
)

func scripts() map[string]syntax {
	return map[string]syntax{
		"python": {
			files:    "py pyi pyw python3 gyp sconstruct",
			keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			types:    "bool bytes bytearray complex dict float frozenset int list object set str tuple type", constants: "True False None self cls __name__",
			builtins: "abs all any enumerate filter getattr hasattr isinstance iter len map max min next open print range repr reversed setattr sorted sum super zip",
			comments: []string{"#"}, upperTypes: true, letters: "@",
			spans: []span{long(`"""`, `"""`), long(`'''`, `'''`), quoted(`"`), quoted(`'`)},
		},
		"ruby": {
			files:     "rb rake gemspec gemfile rakefile",
			keywords:  "alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo rescue retry return self super then undef unless until when while yield require require_relative include extend attr_reader attr_writer attr_accessor private protected public raise",
			constants: "true false nil __FILE__", comments: []string{"#"}, upperTypes: true, letters: "?", variable: "@$",
			spans: []span{block("=begin", "=end"), long(`"`, `"`), raw("'", "'")},
		},
		"php": {
			files:    "phtml",
			keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield",
			types:    "bool float int iterable mixed never object string void self parent", constants: "true false null TRUE FALSE NULL",
			comments: []string{"//", "#"}, upperTypes: true, variable: "$",
			spans: []span{block("/*", "*/"), long(`"`, `"`), long(`'`, `'`)},
		},
		"bash": {
			files:    "sh shell zsh ksh console shellsession .bashrc .zshrc .profile",
			keywords: "case do done elif else esac fi for function if in select then time until while local export readonly declare typeset return exit break continue",
			builtins: "alias cd echo eval exec printf pwd read set shift source test trap type ulimit umask unset wait",
			comments: []string{"#"}, variable: "$", letters: "-", names: "=",
			spans: []span{long(`"`, `"`), raw("'", "'")},
		},
		"powershell": {
			files: "ps1 psm1", anyCase: true,
			keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try until using while",
			comments: []string{"#"}, variable: "$", letters: "-",
			spans: []span{block("<#", "#>"), {open: `"`, end: `"`, role: stringRole, escape: '`', lines: true}, raw("'", "'")},
		},
		"perl": {
			files:    "pl pm",
			keywords: "and cmp continue do else elsif eq for foreach ge gt if last le lt my local ne next no not or our package redo require return sub unless until use while xor",
			builtins: "bless chomp close defined delete die each exists join keys length map open print printf push ref say shift sort split splice sprintf substr undef unshift values warn",
			comments: []string{"#"}, variable: "$@%", spans: []span{long(`"`, `"`), raw("'", "'")},
		},
		"lua": {
			keywords: "and break do else elseif end for function goto if in local not or repeat return then until while", constants: "true false nil self",
			comments: []string{"--"}, spans: []span{block("--[[", "]]"), raw("[[", "]]"), quoted(`"`), quoted("'")},
		},
		"r": {
			keywords: "if else repeat while function for in next break library require return", constants: "TRUE FALSE NULL NA NaN Inf",
			comments: []string{"#"}, letters: ".", spans: []span{long(`"`, `"`), long("'", "'")},
		},
		"dockerfile": {
			files: "docker containerfile", anyCase: true,
			keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
			comments: []string{"#"}, variable: "$", letters: "-", spans: []span{quoted(`"`), raw("'", "'")},
		},
		"makefile": {
			files: "make mk gnumakefile", keywords: "define endef ifdef ifeq ifndef ifneq else endif include export override unexport vpath",
			comments: []string{"#"}, variable: "$", letters: "-.", names: ":=?+",
			spans: []span{quoted(`"`), quoted("'")},
		},
		"vim": {
			files:    "vimrc viml",
			keywords: "let set call function endfunction if elseif else endif for endfor while endwhile return autocmd augroup command map nmap imap vmap nnoremap inoremap vnoremap execute source",
			spans:    []span{raw("'", "'")},
		},
	}
}

func functional() map[string]syntax {
	return map[string]syntax{
		"haskell": {
			files: "hs", keywords: "as case class data default deriving do else forall foreign hiding if import in infix infixl infixr instance let module newtype of qualified then type where",
			comments: []string{"--"}, upperTypes: true, letters: "'", spans: []span{nestedBlock("{-", "-}"), quoted(`"`), char()},
		},
		"ocaml": {
			files: "ml mli", keywords: "and as assert begin class constraint do done downto else end exception external for fun function functor if in include inherit initializer lazy let match method module mutable new object of open private rec sig struct then to try type val virtual when while with",
			constants: "true false", upperTypes: true, letters: "'", spans: []span{nestedBlock("(*", "*)"), long(`"`, `"`), char()},
		},
		"elixir": {
			files: "ex exs", keywords: "after and case catch cond def defdelegate defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless unquote use when with",
			constants: "true false nil", comments: []string{"#"}, upperTypes: true, letters: "?!@",
			spans: []span{long(`"""`, `"""`), long(`"`, `"`), raw("'", "'")},
		},
		"erlang": {
			files: "erl hrl", keywords: "after and andalso begin case catch cond div end fun if let not of or orelse receive rem try when xor",
			comments: []string{"%"}, spans: []span{long(`"`, `"`), raw("'", "'")},
		},
		"clojure": {
			files: "clj cljs cljc edn", keywords: "def defn defn- defmacro defmulti defmethod defprotocol defrecord fn if if-let let loop recur do when when-let cond case for doseq ns require import try catch finally throw",
			constants: "true false nil", comments: []string{";"}, letters: "-?!*+<>=:", spans: []span{long(`"`, `"`)},
		},
		"sql": {
			files: "mysql postgres postgresql sqlite psql", anyCase: true,
			keywords:  "add all alter and any as asc begin between by cascade case check column commit constraint create cross database default delete desc distinct drop else end except exists explain foreign from full grant group having if in index inner insert intersect into is join key left like limit natural not offset on or order outer over partition primary references returning revoke right rollback row select set table then to transaction trigger union unique update using values view when where window with",
			types:     "bigint binary blob boolean char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
			constants: "null true false", comments: []string{"--"}, spans: []span{block("/*", "*/"), doubled("'"), doubled(`"`)},
		},
		"graphql": {
			files: "gql", keywords: "query mutation subscription fragment on type input enum interface union scalar schema directive extend implements",
			types: "Int Float String Boolean ID", constants: "true false null", comments: []string{"#"}, variable: "$", letters: "@", upperTypes: true,
			spans: []span{raw(`"""`, `"""`), quoted(`"`)},
		},
		"protobuf": {
			files: "proto", keywords: "enum extend import message oneof option optional package public repeated required reserved returns rpc service stream syntax to weak",
			types: "bool bytes double fixed32 fixed64 float int32 int64 map sfixed32 sfixed64 sint32 sint64 string uint32 uint64", constants: "true false",
			comments: []string{"//"}, upperTypes: true, spans: []span{block("/*", "*/"), quoted(`"`), quoted("'")},
		},
		"hcl": {
			files: "tf tfvars terraform", keywords: "resource data variable output module provider terraform locals for in if dynamic content",
			constants: "true false null", comments: []string{"#", "//"}, letters: "-", names: "=", spans: []span{block("/*", "*/"), quoted(`"`)},
		},
		"nix": {
			keywords: "assert else if in inherit let or rec then with", constants: "true false null",
			comments: []string{"#"}, letters: "-'", names: "=", spans: []span{block("/*", "*/"), raw("''", "''"), long(`"`, `"`)},
		},
	}
}

func data() map[string]syntax {
	return map[string]syntax{
		"json": {
			files: "jsonc json5 jsonl ndjson geojson webmanifest", constants: "true false null", keys: true, comments: []string{"//"},
			spans: []span{block("/*", "*/"), quoted(`"`)},
		},
		"yaml": {
			files: "yml", constants: "true false null yes no on off ~", comments: []string{"#"}, letters: "-./", names: ":", keys: true,
			line: yamlLine, spans: []span{quoted(`"`), raw("'", "'")},
		},
		"toml": {
			files: "lock cargo.lock", constants: "true false", comments: []string{"#"}, letters: "-.", names: "=", line: section,
			spans: []span{long(`"""`, `"""`), raw("'''", "'''"), quoted(`"`), raw("'", "'")},
		},
		"ini": {
			files: "cfg conf properties env .env editorconfig .editorconfig gitconfig .gitconfig service", constants: "true false yes no on off",
			comments: []string{"#", ";"}, letters: "-.", names: "=:", line: section, spans: []span{quoted(`"`)},
		},
		"xml": {
			files: "html htm xhtml svg vue svelte plist xsd xsl csproj pom", letters: "-:",
			spans: []span{
				block("<!--", "-->"), raw("<![CDATA[", "]]>"), {open: "</", role: keywordRole, lines: true, tag: true}, {open: "<?", role: keywordRole, lines: true, tag: true},
				{open: "<", role: keywordRole, lines: true, tag: true},
			},
		},
		"css": {
			files: "scss sass less", letters: "-@", names: ":", variable: "$", comments: []string{"//"},
			keywords: "@media @import @font-face @keyframes @supports @layer @container @use @include @mixin @extend @if @else @for @each @return important",
			spans:    []span{block("/*", "*/"), quoted(`"`), quoted("'")},
		},
		"markdown": {files: "md mdx", line: markdownLine, spans: []span{raw("```", "```"), {open: "`", end: "`", role: codeRole}}},
		"diff":     {files: "patch", line: diffLine},
	}
}
