package wire

import (
	"encoding/json"
	"testing"
)

func TestCountsTakeWhateverAServerSends(t *testing.T) {
	for sent, want := range map[string]int{
		`12`: 12, `12.9`: 12, `"12"`: 12, `1e3`: 1000, `0`: 0, `null`: 0,
		`-5`: -1, `"-5"`: -1, `{}`: -1, `[1]`: -1, `true`: -1, `""`: -1, `"many"`: -1, `"NaN"`: -1, `"-Inf"`: -1, `"Inf"`: -1,
		`9223372036854775807`: maxCount, `1e300`: maxCount, `1e999`: maxCount,
	} {
		var v struct{ N Count }
		if err := json.Unmarshal([]byte(`{"N":`+sent+`}`), &v); err != nil || int(v.N) != want {
			t.Errorf("%s: %d, %v, want %d", sent, v.N, err, want)
		}
	}
}

func TestDollarsStayFinite(t *testing.T) {
	for sent, want := range map[string]float64{`0.25`: 0.25, `"0.5"`: 0.5, `-1`: 0, `1.7e308`: maxDollars, `1e999`: maxDollars, `"NaN"`: 0, `{}`: 0} {
		var d Dollars
		if err := json.Unmarshal([]byte(sent), &d); err != nil || float64(d) != want {
			t.Errorf("%s: %v, %v, want %v", sent, d, err, want)
		}
	}
}

func TestMaybeIsNilForWhatCannotBeRead(t *testing.T) {
	type object struct{ A int }
	for sent, there := range map[string]bool{`{"A":1}`: true, `{}`: true, `null`: false, `[]`: false, `"none"`: false, `{"A":{}}`: false} {
		var m Maybe[object]
		if err := json.Unmarshal([]byte(sent), &m); err != nil || (m.Value != nil) != there {
			t.Errorf("%s: %v, %v", sent, m.Value, err)
		}
	}
}
