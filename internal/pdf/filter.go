package pdf

import (
	"bytes"
	"compress/flate"
	"compress/lzw"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"

	tifflzw "golang.org/x/image/tiff/lzw"
)

const (
	// maxStream is how many bytes of one stream are decoded; text takes far less.
	maxStream = 16 << 20
	// maxFilters is how many filters may lie over each other.
	maxFilters = 4
)

// decode undoes a stream's filters. Of a damaged stream it gives what came before
// the damage. An error says that nothing can be had, as of a picture.
func (d *Document) decode(s *stream) ([]byte, error) {
	filters := d.list(s.dict["Filter"], s.dict["F"])
	parms := d.list(s.dict["DecodeParms"], s.dict["DP"])
	if len(filters) > maxFilters {
		return nil, fmt.Errorf("a stream has %d filters over each other", len(filters))
	}
	// What goes in costs as well: there are streams without end that give nothing.
	if !d.b.take(len(s.raw)/8 + 10) {
		return nil, d.b.err
	}
	data := d.decrypted(s)
	for i, f := range filters {
		filter, _ := d.resolve(f).(name)
		var p dict
		if i < len(parms) {
			p, _ = d.resolve(parms[i]).(dict)
		}
		var err error
		if data, err = d.unfilter(filter, data, p); err != nil {
			return nil, err
		}
		if !d.b.take(len(data) / 8) {
			return nil, d.b.err
		}
	}
	return data, nil
}

// list is a value that may stand alone or in an array.
func (d *Document) list(values ...any) []any {
	for _, v := range values {
		switch v := d.resolve(v).(type) {
		case nil:
		case array:
			return v
		default:
			return []any{v}
		}
	}
	return nil
}

func (d *Document) unfilter(filter name, data []byte, p dict) ([]byte, error) {
	switch filter {
	case "FlateDecode", "Fl":
		return d.unpredict(inflate(data), p)
	case "LZWDecode", "LZW":
		return d.unpredict(d.unLZW(data, p), p)
	case "ASCIIHexDecode", "AHx":
		l := lexer{data: data, b: &d.b}
		return []byte(l.hex()), nil
	case "ASCII85Decode", "A85":
		return un85(data), nil
	case "RunLengthDecode", "RL":
		return unRunLength(data), nil
	case "Crypt":
		return data, nil
	}
	return nil, fmt.Errorf("a stream is packed with %s, which is for pictures", quoted(string(filter)))
}

// inflate gives what can be inflated.
func inflate(data []byte) []byte {
	if r, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
		return readAll(r)
	}
	if len(data) < 2 {
		return nil
	}
	// Some writers leave a broken header before sound data.
	return readAll(flate.NewReader(bytes.NewReader(data[2:])))
}

// readAll reads up to the limit; an error ends it, since damage must not cost
// what came before.
func readAll(r io.Reader) []byte {
	out, _ := io.ReadAll(io.LimitReader(r, maxStream))
	return out
}

func (d *Document) unLZW(data []byte, p dict) []byte {
	if early, ok := d.resolve(p["EarlyChange"]).(int); ok && early == 0 {
		return readAll(lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8))
	}
	// TIFF's kind has the same quirk: codes grow one too early.
	return readAll(tifflzw.NewReader(bytes.NewReader(data), tifflzw.MSB, 8))
}

func un85(data []byte) []byte {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
	if i := bytes.IndexByte(data, '~'); i >= 0 {
		data = data[:i]
	}
	return readAll(ascii85.NewDecoder(bytes.NewReader(data)))
}

func unRunLength(data []byte) []byte {
	const over = 128
	var out []byte
	for len(data) > 1 && data[0] != over && len(out) < maxStream {
		n := int(data[0])
		if n < over {
			n = min(n+1, len(data)-1)
			out = append(out, data[1:n+1]...)
			data = data[n+1:]
			continue
		}
		out = append(out, bytes.Repeat(data[1:2], 2*over+1-n)...)
		data = data[2:]
	}
	return out
}

// unpredict undoes the differences to the row above or the sample before.
func (d *Document) unpredict(data []byte, p dict) ([]byte, error) {
	number := func(key name, without int) int {
		if n, ok := d.resolve(p[key]).(int); ok {
			return n
		}
		return without
	}
	predictor := number("Predictor", 1)
	if predictor <= 1 {
		return data, nil
	}
	const most = 1 << 16
	colors, bits, columns := number("Colors", 1), number("BitsPerComponent", 8), number("Columns", 1)
	if colors < 1 || colors > 32 || bits < 1 || bits > 16 || columns < 1 || columns > most {
		return nil, fmt.Errorf("a stream has rows of %d samples", columns)
	}
	pixel, row := max(1, colors*bits/8), (colors*bits*columns+7)/8
	if predictor == 2 {
		if bits != 8 {
			return nil, fmt.Errorf("a stream has samples of %d bits", bits)
		}
		for start := 0; start < len(data); start += row {
			line := data[start:min(start+row, len(data))]
			for i := pixel; i < len(line); i++ {
				line[i] += line[i-pixel]
			}
		}
		return data, nil
	}
	return unPNG(data, row, pixel), nil
}

// unPNG undoes PNG's filters, a byte for which stands before each row.
func unPNG(data []byte, row, pixel int) []byte {
	out := make([]byte, 0, len(data))
	above := make([]byte, row)
	for len(data) > 1 {
		kind, line := data[0], data[1:min(row+1, len(data))]
		data = data[1+len(line):]
		start := len(out)
		out = append(out, line...)
		now := out[start:]
		for i := range now {
			var left, corner byte
			if i >= pixel {
				left, corner = now[i-pixel], above[i-pixel]
			}
			switch kind {
			case 1:
				now[i] += left
			case 2:
				now[i] += above[i]
			case 3:
				now[i] += byte((int(left) + int(above[i])) / 2)
			case 4:
				now[i] += paeth(left, above[i], corner)
			}
		}
		above = now
		if len(above) < row {
			break
		}
	}
	return out
}

func paeth(left, above, corner byte) byte {
	abs := func(n int) int { return max(n, -n) }
	p := int(left) + int(above) - int(corner)
	l, a, c := abs(p-int(left)), abs(p-int(above)), abs(p-int(corner))
	switch {
	case l <= a && l <= c:
		return left
	case a <= c:
		return above
	}
	return corner
}
