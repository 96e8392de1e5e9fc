package wire

import (
	"encoding/json"
	"testing"
)

func TestDecodeReadsNaN(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity, Infinity]}`: `{"a":"NaN","b":["-Infinity","Infinity"]}`,
		`{"a":-1,"b":"NaN -Infinity \" I"}`:   `{"a":-1,"b":"NaN -Infinity \" I"}`,
		`{"a":NaN,"b":"NaN \\"}`:              `{"a":"NaN","b":"NaN \\"}`,
		`[-NaN]`:                              `["-NaN"]`,
	} {
		var got any
		if err := Decode([]byte(in), &got); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if out, err := json.Marshal(got); err != nil || string(out) != want {
			t.Errorf("%s: %s, %v", in, out, err)
		}
	}
	for _, in := range []string{`{"a":NaN`, `NaNs`, `{"a":Nope}`, ``, `"NaN`} {
		var got any
		if err := Decode([]byte(in), &got); err == nil {
			t.Errorf("%s is read as %v", in, got)
		}
	}
}

func TestLooseTypes(t *testing.T) {
	for in, want := range map[string]struct {
		word  Word
		index Index
		count Count
	}{
		`"a"`: {"a", -1, Unread}, `7`: {"7", 7, 7}, `"7"`: {"7", 7, 7}, `null`: {"", 0, 0}, `1.0`: {"1.0", 1, 1},
		`1.5`: {"1.5", -1, 1}, `{}`: {"", -1, Unread}, `[1]`: {"", -1, Unread}, `true`: {"", -1, Unread},
		`-1`: {"-1", -1, Unread}, `1e300`: {"1e300", -1, maxCount}, `"NaN"`: {"NaN", -1, Unread}, `"Infinity"`: {"Infinity", -1, Unread},
	} {
		var got struct {
			Word  Word
			Index Index
			Count Count
		}
		if err := json.Unmarshal([]byte(`{"Word":`+in+`,"Index":`+in+`,"Count":`+in+`}`), &got); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if got.Word != want.word || got.Index != want.index || got.Count != want.count {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":NaN,"b":"\"NaN"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var v any
		strict := json.Unmarshal(in, &v)
		if err := Decode(in, &v); err != nil && strict == nil {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
