package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

func pngOf(t testing.TB, w, h int, noise bool) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(x), uint8(y), 7, 255}
			if noise {
				c = color.NRGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFit(t *testing.T) {
	small := pngOf(t, 40, 20, false)
	p, err := Fit(small)
	if err != nil || !bytes.Equal(p.Data, small) || p.MediaType != "image/png" || p.Width != 40 || p.Was != (image.Point{}) {
		t.Errorf("a small one does not stay as it is: %+v, %v", p, err)
	}
	p, err = Fit(pngOf(t, 3136, 784, false))
	if err != nil || p.Width != MaxEdge || p.Height != 392 || p.Was != image.Pt(3136, 784) || p.MediaType != "image/png" {
		t.Errorf("scaled: %+v, %v", p.Was, err)
	}
	if cfg, err := png.DecodeConfig(bytes.NewReader(p.Data)); err != nil || cfg.Width != p.Width || cfg.Height != p.Height {
		t.Errorf("%+v, %v", cfg, err)
	}
	// What is no smaller as PNG becomes a JPEG, and is within the limit.
	p, err = Fit(pngOf(t, 1500, 1500, true))
	if err != nil || len(p.Data) > MaxBytes || p.MediaType != "image/jpeg" || MediaType(p.Data) != "image/jpeg" {
		t.Errorf("noise: %d bytes of %s, %v", len(p.Data), p.MediaType, err)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 2000, 10)), nil); err != nil {
		t.Fatal(err)
	}
	if p, err = Fit(b.Bytes()); err != nil || p.MediaType != "image/jpeg" || p.Width != MaxEdge {
		t.Errorf("JPEG: %+v, %v", p, err)
	}
	b.Reset()
	if err := gif.Encode(&b, image.NewGray(image.Rect(0, 0, 10, 10)), nil); err != nil {
		t.Fatal(err)
	}
	if p, err = Fit(b.Bytes()); err != nil || p.MediaType != "image/gif" {
		t.Errorf("GIF: %+v, %v", p, err)
	}
}

func TestFitRefuses(t *testing.T) {
	bomb := pngOf(t, 1, 1, false)
	binary.BigEndian.PutUint32(bomb[16:], 100_000) // the header's width and height
	binary.BigEndian.PutUint32(bomb[20:], 100_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	whole, small := pngOf(t, 2000, 2000, false), pngOf(t, 300, 200, true)
	for want, data := range map[string][]byte{
		"no PNG, JPEG, GIF or WebP": []byte("text"),
		"100000 × 100000 pixels":    bomb,
		"size":                      []byte("\x89PNG\r\n\x1a\nnothing"),
		"decode the picture":        whole[:len(whole)/2],
		"decode the picture: ":      small[:len(small)-40], // it would go as it is
	} {
		if p, err := Fit(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, want %q", p, err, want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(pngOf(f, 3, 2, false))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Fit(data)
		if err == nil && (len(p.Data) > MaxBytes || max(p.Width, p.Height) > MaxEdge || MediaType(p.Data) != p.MediaType) {
			t.Errorf("%d bytes of %s, %d × %d", len(p.Data), p.MediaType, p.Width, p.Height)
		}
	})
}
