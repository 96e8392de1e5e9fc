package workspace

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// bytesIn writes text in a charset of the library.
func bytesIn(t testing.TB, charset encoding.Encoding, text string) []byte {
	t.Helper()
	raw, err := charset.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Only what leaves no doubt is told from the bytes; all else is read as UTF-8,
// with marks where that fails.
func TestCertainCharset(t *testing.T) {
	for _, tt := range []struct {
		name    string
		charset encoding.Encoding
		text    string
		want    Encoding // UTF8: not told
	}{
		{"Japanese", japanese.ShiftJIS, "// ファイルを開く\nint x; // 初期化します\n", ShiftJIS},
		{"Japanese with narrow kana", japanese.ShiftJIS, "# ﾃｽﾄ用の設定ファイルです\n", ShiftJIS},
		{"Japanese, no kana", japanese.ShiftJIS, "// 初期化処理 終了処理 入力値検査\n", UTF8},
		{"Japanese, other charset", japanese.EUCJP, "// ファイルを開く\nint x; // 初期化します\n", UTF8},
		{"Japanese, other charset, no kana", japanese.EUCJP, "// 初期化処理 終了処理 入力値検査 出力\n", UTF8},
		{"Chinese", simplifiedchinese.GBK, "// 打开文件\nint x; // 初始化变量\n", GBK},
		{"Chinese prose", simplifiedchinese.GBK, "本程序是自由软件：你可以再分发之和/或依照由自由软件基金会发布的许可证修改之。", GBK},
		{"Chinese, too little", simplifiedchinese.GBK, "// 文件\n", UTF8},
		{"Chinese, traditional", traditionalchinese.Big5, "// 打開檔案\nint x; // 初始化變數並設定\n", UTF8},
		{"Korean", korean.EUCKR, "// 파일을 엽니다\nint x; // 초기화 변수를 설정합니다 그리고 종료합니다\n", UTF8},
		{"German", charmap.Windows1252, "// Öffnet die Datei für später\nint x; // größer\n", Windows1252},
		{"German in capitals", charmap.Windows1252, "ÄNDERN ÜBER MÖGLICH\n", Windows1252},
		{"French", charmap.Windows1252, "# Créée par l'élève à côté — « vrai »\n", Windows1252},
		{"Spanish", charmap.Windows1252, "El niño está aquí en España\n", Windows1252},
		{"Portuguese", charmap.Windows1252, "a função não está na configuração\n", Windows1252},
		{"Danish", charmap.Windows1252, "på grønne øer, så blå\n", Windows1252},
		{"Western, too little", charmap.Windows1252, "José\n", UTF8},
		{"Czech", charmap.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy\n", UTF8},
		{"Polish", charmap.Windows1250, "Zażółć gęślą jaźń\n", UTF8},
		{"Hungarian", charmap.Windows1250, "árvíztűrő tükörfúrógép\n", UTF8},
		{"Turkish", charmap.Windows1254, "Türkçe dili için değişiklik\n", UTF8},
		{"Russian", charmap.Windows1251, "Это русский текст и он здесь\n", UTF8},
		{"Russian, other charset", charmap.KOI8R, "Это русский текст и он здесь\n", UTF8},
		{"Greek", charmap.ISO8859_7, "Αυτό είναι ελληνικό κείμενο\n", UTF8},
		{"German, of DOS", charmap.CodePage437, "Die Größe für später\n", UTF8},
		{"German, of the old Mac", charmap.Macintosh, "Die Größe für später\n", UTF8},
		{"French, of the old Mac", charmap.Macintosh, "Créée par l'élève à côté\n", UTF8},
	} {
		raw := bytesIn(t, tt.charset, tt.text)
		text := Decode(raw)
		if text.Encoding != tt.want || text.Broken != (tt.want == UTF8) {
			t.Errorf("%s: %s, broken %v: %q", tt.name, text.Encoding, text.Broken, text.LF)
			continue
		}
		if tt.want != UTF8 && text.LF != tt.text {
			t.Errorf("%s: read as %q", tt.name, text.LF)
		}
	}
}

// The beginning of a file tells it too, also where that ends inside a character.
func TestCharsetOf(t *testing.T) {
	for _, tt := range []struct {
		raw  []byte
		want Encoding
	}{
		{bytes.Repeat(bytesIn(t, japanese.ShiftJIS, "ファイルを開くx"), 1000), ShiftJIS},
		{append([]byte("a"), bytes.Repeat(bytesIn(t, simplifiedchinese.GBK, "打开文件，初始化变量"), 1000)...), GBK},
		{bytes.Repeat([]byte("Gr\xf6\xdfe f\xfcr "), 1000), Windows1252},
		{bytes.Repeat([]byte("初始化变量"), 1000), UTF8},
		{append([]byte("ab"), bytes.Repeat([]byte("打开文件，"), 1000)...), UTF8},
		{[]byte("\xff\xfea\x00"), UTF16LE},
		{nil, UTF8},
	} {
		if got, _ := CharsetOf(tt.raw); got != tt.want {
			t.Errorf("%.20q: %s, want %s", tt.raw, got, tt.want)
		}
		text, style, _, _, err := TextReader(bytes.NewReader(tt.raw))
		if err != nil || style.Encoding != tt.want {
			t.Fatalf("%.20q: %s, %v", tt.raw, style.Encoding, err)
		}
		if all, err := io.ReadAll(text); err != nil || string(all) != Decode(tt.raw).LF {
			t.Errorf("%.20q: read as %.40q, %v", tt.raw, all, err)
		}
	}
}

// Bytes that are broken UTF-8 are not taken for another charset.
func TestCertainCharsetOfBrokenText(t *testing.T) {
	for name, raw := range map[string]string{
		"UTF-8 cut in words":         "caf\xc3 na\xc3 r\xc3 x",
		"UTF-8 beside old bytes":     "für \xe4pfel \xf6l \xfcber und g\xfcte",
		"any bytes":                  "\xfd\xff\xfe\x80\x81",
		"old bytes with a control":   "Gr\xf6\xdfe f\xfcr \x01sp\xe4ter",
		"Japanese with a stray byte": string(bytesIn(t, japanese.ShiftJIS, "ファイルを開くことができます")) + "\xff\n",
		"Chinese with a stray byte":  string(bytesIn(t, simplifiedchinese.GBK, "打开文件，初始化变量")) + "\x81\n",
	} {
		if text := Decode([]byte(raw)); text.Encoding != UTF8 || !text.Broken {
			t.Errorf("%s: %s, %q", name, text.Encoding, text.LF)
		}
	}
}

// What .editorconfig says is taken, unless the file cannot be meant.
func TestDeclaredCharset(t *testing.T) {
	for _, tt := range []struct {
		name, charset string
		raw           []byte
		want          Encoding
		lf            string
	}{
		{"declared", "latin1", []byte("\xe9\n"), Latin1, "é\n"},
		{"declared by another name", "Shift_JIS", bytesIn(t, japanese.ShiftJIS, "初期化\n"), ShiftJIS, "初期化\n"},
		{"GBK that could be UTF-8", "gbk", bytesIn(t, simplifiedchinese.GBK, "模\n"), GBK, "模\n"},
		{"UTF-8 after all", "latin1", []byte("für\n"), UTF8, "für\n"},
		{"UTF-8 after all, no GBK", "gbk", []byte("für 中\n"), UTF8, "für 中\n"},
		{"only ASCII", "windows-1251", []byte("abc\n"), Windows1251, "abc\n"},
		{"a byte order mark", "latin1", []byte("\xef\xbb\xbfabc\n"), UTF8, "abc\n"},
		{"bytes that are nothing in it", "gbk", []byte("a\xff\x20b\n"), GBK, "a\ufffd b\n"},
		{"UTF-8 declared", "utf-8", []byte("a\xe9\n"), UTF8, "a\ufffd\n"},
		{"a charset nobody knows", "ebcdic", []byte("a\xe9\n"), UTF8, "a\ufffd\n"},
	} {
		root := t.TempDir()
		write(t, root+"/.editorconfig", "root = true\n[*.txt]\ncharset = "+tt.charset+"\n")
		write(t, root+"/sub/f.txt", string(tt.raw))
		w := openTest(t, root, Options{})
		c, err := w.ReadFile(mustResolve(t, w, "sub/f.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text := c.Text()
		if text.Encoding != tt.want || text.LF != tt.lf {
			t.Errorf("%s: %s, %q", tt.name, text.Encoding, text.LF)
		}
	}
}

// Each charset has every character at one place only, both ways.
func TestLegacyCodecs(t *testing.T) {
	for i := range legacyCharsets() {
		enc := Latin1 + Encoding(i)
		c := enc.codec()
		chars := 0
		for b := range 1 << 16 {
			raw := []byte{byte(b >> 8), byte(b)}
			r, n, ok := c.decode(raw)
			if !ok || n == 1 && b&0xff != 0 {
				continue
			}
			chars++
			back, ok := c.encode(nil, r)
			if !ok {
				t.Fatalf("%s: %q of % x cannot be written", enc, r, raw[:n])
			}
			if again, m, ok := c.decode(back); !ok || m != len(back) || again != r {
				t.Errorf("%s: %q is written as % x, which is %q", enc, r, back, again)
			}
		}
		if enc2, ok := charsetLabeled(enc.label()); !ok || enc2 != enc {
			t.Errorf("the label %q of %s is that of %s", enc.label(), enc, enc2)
		}
		if least := 200; chars < least && enc.singleByte() || !enc.singleByte() && chars < 5000 {
			t.Errorf("%s has only %d characters", enc, chars)
		}
	}
	for _, tt := range []struct {
		enc Encoding
		r   rune
	}{{Latin1, '€'}, {Windows1252, 'ж'}, {ShiftJIS, '¥'}, {ShiftJIS, 'é'}, {GBK, '😀'}, {GBK, '\ufffd'}} {
		raw, err := Style{Encoding: tt.enc}.Encode("a" + string(tt.r))
		if err == nil || !strings.Contains(err.Error(), string(tt.r)) && tt.r != '\ufffd' {
			t.Errorf("%s: %q was written as % x, %v", tt.enc, tt.r, raw, err)
		}
	}
}

// The rest of the text does not change the reading of a file whose charset was
// told from its bytes without a word.
func TestSpliceOfACertainCharset(t *testing.T) {
	text := Decode(bytesIn(t, charmap.Windows1252, "Größe für später\nabc\n"))
	at := strings.Index(text.LF, "abc")
	// Bytes outside stay, also when the charset is not certain any more.
	raw, lf, err := text.Splice([]Edit{{0, strings.Index(text.LF, " sp"), "x"}})
	if err != nil || lf != "x später\nabc\n" || !bytes.Equal(raw, []byte("x sp\xe4ter\nabc\n")) {
		t.Errorf("%q, %q, %v", raw, lf, err)
	}
	if raw, _, err = text.Splice([]Edit{{at, at + 3, "Übung"}}); err != nil || !bytes.HasSuffix(raw, []byte("\xdcbung\n")) {
		t.Errorf("%q, %v", raw, err)
	}
	if _, _, err = text.Splice([]Edit{{at, at + 3, "2 × 3"}}); err == nil || !strings.Contains(err.Error(), "charset = windows-1252") {
		t.Errorf("a character that hides the charset: %v", err)
	}
	if _, _, err = text.Splice([]Edit{{at, at + 3, "日本"}}); err == nil || err.Error() != `the file's charset Windows-1252 has no character '日' (U+65E5); write it in another way, such as in ASCII or as an escape` {
		t.Errorf("a character that it has not: %v", err)
	}
}
