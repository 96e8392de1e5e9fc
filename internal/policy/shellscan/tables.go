package shellscan

var (
	gnu     = optionStyle{abbreviated: true}
	gnuNums = optionStyle{abbreviated: true, digits: true}
	exact   = optionStyle{}
)

// optionsOf is the table of a tool; nil when it has none. Option names are those
// of GNU, BSD and the tools' own manuals; an option in which these differ is left out.
func optionsOf(name string) *optionTable {
	if t, ok := toolTables[name]; ok {
		return t()
	}
	return nil
}

// toolTables holds functions only, so that starting costs nothing.
var toolTables = map[string]func() *optionTable{
	"ls": table(gnu, `-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape
		--block-size= --ignore-backups --color=? --directory --classify=? --file-type --format= --full-time
		--group-directories-first --no-group --human-readable --si --dereference-command-line --hide=
		--hyperlink=? --indicator-style= --inode --ignore= --kibibytes --dereference --numeric-uid-gid
		--literal --hide-control-chars --show-control-chars --quote-name --quoting-style= --reverse
		--recursive --size --sort= --time= --time-style= --width= --context --zero --help --version`),
	"cat": table(gnu, `-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank
		--show-tabs --show-nonprinting --help --version`),
	"head": table(gnuNums, `-n: -c: -qvz --lines= --bytes= --quiet --silent --verbose --zero-terminated --help --version`),
	"tail": table(gnuNums, `-n: -c: -s: -fFqvzr --lines= --bytes= --follow=? --pid= --quiet --silent --retry
		--sleep-interval= --max-unchanged-stats= --verbose --zero-terminated --help --version`),
	"wc":   table(gnu, `-cmlLw --bytes --chars --lines --max-line-length --words --total= !--files0-from=@ --help --version`),
	"stat": table(gnu, `-c: -fLt --format= --printf= --dereference --file-system --terse --cached= --help --version`),
	"file": table(gnu, `-bhiIkLnNprvz0 -F: -e: ~-szZS !-f:@ !-m: !-C --brief --mime --mime-type --mime-encoding
		--no-dereference --dereference --keep-going --no-pad --no-buffer --raw --print0 --separator= --extension
		--apple --exclude= !--files-from=@ !--magic-file= !--compile ~--special-files ~--uncompress
		~--uncompress-noreport ~--no-sandbox ~--parameter= --help --version`),
	"du": table(gnu, `-abcDhHklLmPsSx0 -d: -t: -B: ~-X:@ --all --apparent-size --bytes --total --dereference-args
		--max-depth= --human-readable --inodes --si --dereference --no-dereference --null --separate-dirs
		--summarize --threshold= --time=? --time-style= --exclude= --one-file-system --block-size=
		~--exclude-from=@ !--files0-from=@ --help --version`),
	"cut": table(gnu, `-b: -c: -d: -f: -nsz --bytes= --characters= --delimiter= --fields= --complement
		--only-delimited --output-delimiter= --zero-terminated --help --version`),
	"tr":       table(gnu, `-cCdstu --complement --delete --squeeze-repeats --truncate-set1 --help --version`),
	"basename": table(gnu, `-az -s: --multiple --suffix= --zero --help --version`),
	"dirname":  table(gnu, `-z --zero --help --version`),
	"which":    table(exact, `-as`),
	"pwd":      table(gnu, `-LP --logical --physical`),
	"date": table(gnu, `-uR -I? -d: -r:@ ~-f:@ !-s: ~-jn ~-v: --utc --universal --rfc-email --iso-8601=? --rfc-3339=
		--date= --reference=@ ~--file=@ !--set= --resolution --debug --help --version`),
	"uniq": table(gnuNums, `-cdDiuz -f: -s: -w: --count --repeated --all-repeated=? --skip-fields= --group=?
		--ignore-case --skip-chars= --unique --zero-terminated --check-chars= --help --version`),
	"sort": table(gnu, `-bcCdfghiMmnRrsuVz -k: -t: -S: !-o: !-T: --ignore-leading-blanks --dictionary-order
		--ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort
		--numeric-sort --random-sort --random-source=@ --reverse --sort= --version-sort --batch-size=
		--check=? --debug --key= --merge --stable --buffer-size= --field-separator= --parallel= --unique
		--zero-terminated !--compress-program= !--output= !--temporary-directory= !--files0-from=@ --help --version`),
	"grep":  table(gnuNums, grepOptions),
	"egrep": table(gnuNums, grepOptions),
	"fgrep": table(gnuNums, grepOptions),
	"rg": table(exact, `-ainlcvwxosSFUPHIN0pqh1 ~-L -e: -g: -t: -T: -A: -B: -C: -m: -j: -M: -E: -r: -d: -f:@ ~-u. !-z
		!--pre= ~--pre-glob= !--hostname-bin= !--search-zip ~--hidden ~--no-ignore ~--unrestricted ~--follow
		--ignore-case --line-number --no-line-number --files-with-matches --files-without-match --count
		--count-matches --invert-match --word-regexp --line-regexp --only-matching --smart-case --case-sensitive
		--fixed-strings --multiline --multiline-dotall --pcre2 --with-filename --no-filename --null --pretty
		--quiet --text --regexp= --glob= --iglob= --type= --type-not= --after-context= --before-context=
		--context= --max-count= --threads= --max-columns= --max-columns-preview --encoding= --replace=
		--max-depth= --maxdepth= --max-filesize= --file=@ --files --type-list --sort= --sortr= --color= --colors=
		--column --no-column --heading --no-heading --json --stats --trim --vimgrep --passthru --no-messages
		--no-config --one-file-system --crlf --binary --mmap --no-mmap --line-buffered --block-buffered
		--context-separator= --field-match-separator= --glob-case-insensitive --no-require-git --null-data
		--byte-offset --auto-hybrid-regex --engine= --include-zero --no-pcre2-unicode --no-unicode --help --version
		~--ignore-file=@ ~--no-ignore-vcs ~--no-ignore-dot ~--no-ignore-parent ~--no-ignore-global
		~--type-add= ~--type-clear= ~--debug ~--trace ~--generate=`),
	"sed": table(gnu, `-nErsuz ~-l -e: !-f: !-i? !-I: --quiet --silent --regexp-extended --separate --unbuffered
		--null-data --line-length= --expression= --debug --posix --sandbox --follow-symlinks
		!--file= !--in-place=? --help --version`),
	"awk":  table(awkStyle, awkOptions),
	"gawk": table(awkStyle, awkOptions),
	"mawk": table(awkStyle, awkOptions),
	"nawk": table(awkStyle, awkOptions),
	"tar": table(gnu, `-tvzjJa -f:@ !-O ~-C: !-xcruAdGg !-I: !-F: !-T:@ !-X:@ !-L: --list --file=@ --verbose --gzip
		--gunzip --bzip2 --xz --zstd --auto-compress --exclude= --wildcards --full-time --utc --numeric-owner
		!--use-compress-program= !--to-command= !--checkpoint-action= !--info-script= !--new-volume-script=
		!--rsh-command= !--rmt-command= !--index-file= !--files-from= !--exclude-from= !--create !--extract
		!--get !--append !--update !--catenate !--concatenate !--delete !--to-stdout !--directory=
		!--listed-incremental= !--warning= !--volno-file= !--remove-files !--one-top-level=?`),
	"tee": table(gnu, `-aip !--append !--ignore-interrupts --output-error=?`),
	"xargs": table(optionStyle{abbreviated: true, ordered: true}, `-0rtpxo -d: -E: -e? -I: -i? -L: -l? -n: -P: -s: -J: -R: -a:@
		--null --delimiter= --eof=? --replace=? --max-lines=? --max-args= --max-procs= --max-chars= --verbose
		--interactive --no-run-if-empty --exit --show-limits --open-tty --process-slot-var= --arg-file=@`),
	"env": table(optionStyle{abbreviated: true, ordered: true}, `-i0v !-u: !-C: !-S: !-a: --ignore-environment
		!--unset= !--chdir= !--split-string= !--argv0= --null --debug !--block-signal=? !--default-signal=?
		!--ignore-signal=? --list-signal-handling`),
	"make":  table(gnu, makeOptions),
	"gmake": table(gnu, makeOptions),
	"go": table(optionStyle{single: true}, `!--exec= !--toolexec= !--o= !--outputdir= !--coverprofile= !--cpuprofile=
		!--memprofile= !--blockprofile= !--mutexprofile= !--trace= !--overlay= !--modfile= !--vettool= !--ldflags=
		!--gcflags= !--asmflags= !--gccgoflags= !--compiler= !--C= !--mod= !--modcacherw !--pkgdir= !--fuzzcachedir=
		!--c !--w !--u !--args !--pgo= !--test.coverprofile= !--test.cpuprofile= !--test.memprofile=
		!--test.blockprofile= !--test.mutexprofile= !--test.trace= !--test.outputdir= !--test.gocoverdir=
		!--test.testlogfile= !--gocoverdir= !--buildvcs= !--installsuffix= !--debug-actiongraph= !--debug-trace=
		!--debug-runtime-trace= !--diff= ~--run= ~--bench= ~--count= ~--timeout= ~--tags= ~--p= ~--parallel= ~--cpu=
		~--benchtime= ~--fuzz= ~--fuzztime= ~--fuzzminimizetime= ~--list= ~--skip= ~--shuffle= ~--vet= ~--covermode=
		~--coverpkg= ~--f= ~--template=`),
	"node":   table(optionStyle{ordered: true}, nodeOptions),
	"nodejs": table(optionStyle{ordered: true}, nodeOptions),
	"cargo": table(optionStyle{abbreviated: true}, `!--config= !-Z: !-C: !--manifest-path= !--target-dir= !--out-dir=
		!--artifact-dir= !--root= !--path= !--git= !--registry= !--index= !--lockfile-path= !--fix !--allow-dirty`),
}

const grepOptions = `-abcEFGHhIiLlnoPqrsTUuVvwxyZz ~-R -e: -A: -B: -C: -m: -d: -D: -f:@ --regexp= --file=@ --ignore-case
	--no-ignore-case --invert-match --word-regexp --line-regexp --count --color=? --colour=? --files-without-match
	--files-with-matches --max-count= --only-matching --quiet --silent --no-messages --byte-offset
	--with-filename --no-filename --label= --line-number --initial-tab --null --after-context=
	--before-context= --context= --text --binary-files= --devices= --directories= --exclude= --exclude-dir=
	--include= --recursive ~--dereference-recursive --line-buffered --binary --null-data --extended-regexp
	--fixed-strings --basic-regexp --perl-regexp --group-separator= --no-group-separator --unix-byte-offsets
	~--exclude-from=@ --help --version`

var awkStyle = optionStyle{abbreviated: true, ordered: true}

const awkOptions = `-F: -v: -bcCnNOPrSstVhI !-f: !-e: !-i: !-E: !-l: !-d? !-D? !-o? !-p? !-L? !-W: -M --field-separator=
	--assign= --sandbox --posix --re-interval --traditional --characters-as-bytes --non-decimal-data
	--no-optimize --optimize --version --help !--file= !--source= !--include= !--exec= !--load=
	!--dump-variables=? !--debug=? !--pretty-print=? !--profile=? !--lint=? !--gen-pot`

const makeOptions = `-bBkmnpqrRsStvwdL -j? -l? -O? !-f: !-C: !-I: !-E: !-o: !-W: !-e --always-make --keep-going
	--jobs=? --dry-run --just-print --recon --question --silent --quiet --print-directory --touch --trace
	--version --help !--file= !--makefile= !--directory= !--include-dir= !--eval= !--environment-overrides
	!--old-file= !--assume-old= !--new-file= !--what-if= !--shuffle=?`

const nodeOptions = `!-e: !-p? !-r: !-C: !-i !-c --test --version --watch --trace-warnings --no-warnings --enable-source-maps
	--max-old-space-size= --test-reporter= --test-name-pattern= --test-timeout= --test-only !--eval= !--print=?
	!--require= !--import= !--loader= !--experimental-loader= !--env-file= !--env-file-if-exists= !--openssl-config=
	!--interactive !--check !--conditions= !--inspect=? !--inspect-brk=? !--inspect-wait=? !--run= !--cpu-prof
	!--heap-prof !--prof !--redirect-warnings= !--report-directory= !--diagnostic-dir= !--snapshot-blob=
	!--build-snapshot !--experimental-config-file= !--test-reporter-destination= !--trace-event-file-pattern=
	!--disable-warning= !--icu-data-dir= !--title= !--experimental-default-config-file !--build-sea=
	!--experimental-sea-config= !--localstorage-file= !--experimental-policy= !--watch-path= !--test-coverage-include=
	!--test-global-setup= !--heapsnapshot-signal= !--secure-heap=`
