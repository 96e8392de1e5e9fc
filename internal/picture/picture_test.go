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

// printJPEG is a JPEG of 8 × 8 pixels in the four colours of print, made of a
// grey one: the same block four times.
func printJPEG(t *testing.T) []byte {
	t.Helper()
	grey := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range grey.Pix {
		grey.Pix[i] = 128
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, grey, nil); err != nil {
		t.Fatal(err)
	}
	out := []byte("\xff\xd8\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")
	for rest := b.Bytes()[2:]; ; {
		marker, size := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		switch marker {
		case 0xc0: // the frame
			out = append(out, "\xff\xc0\x00\x14\x08\x00\x08\x00\x08\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00"...)
		case 0xda: // the scan: no difference to the block before, end of block, four times
			return append(out, "\xff\xda\x00\x0e\x04\x01\x00\x02\x00\x03\x00\x04\x00\x00\x3f\x00\x28\xa2\x8a\xff\xd9"...)
		default:
			out = append(out, rest[:2+size]...)
		}
		rest = rest[2+size:]
	}
}

// What providers take differently goes in a form that all take alike.
func TestFitOddPictures(t *testing.T) {
	frame := func(shade uint8) *image.Paletted {
		img := image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.Black, color.White})
		for i := range img.Pix {
			img.Pix[i] = shade
		}
		return img
	}
	gifOf := func(frames ...*image.Paletted) []byte {
		var b bytes.Buffer
		if err := gif.EncodeAll(&b, &gif.GIF{Image: frames, Delay: make([]int, len(frames))}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	still, moving := gifOf(frame(1)), gifOf(frame(1), frame(0), frame(1))
	if p, err := Fit(still); err != nil || !bytes.Equal(p.Data, still) {
		t.Errorf("a still GIF: %+v, %v", p, err)
	}
	p, err := Fit(moving)
	if err != nil || p.MediaType != "image/png" || p.Width != 8 || p.Was != (image.Point{}) {
		t.Fatalf("an animation: %+v, %v", p, err)
	}
	img, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, _, _ := img.At(4, 4).RGBA(); r != 0xffff {
		t.Errorf("it is not its first picture: %v", img.At(4, 4))
	}
	for n := range moving { // also of what is cut anywhere
		_ = animated(moving[:n])
	}

	print := printJPEG(t)
	if p, err = Fit(print); err != nil || p.MediaType != "image/jpeg" || bytes.Equal(p.Data, print) {
		t.Fatalf("colours of print: %+v, %v", p, err)
	}
	if img, err = jpeg.Decode(bytes.NewReader(p.Data)); err != nil {
		t.Fatal(err)
	}
	if _, still := img.(*image.CMYK); still {
		t.Error("it has colours of print still")
	}

	deep := image.NewNRGBA64(image.Rect(0, 0, 2000, 20))
	var b bytes.Buffer
	if err := png.Encode(&b, deep); err != nil {
		t.Fatal(err)
	}
	if p, err = Fit(b.Bytes()); err != nil || p.Width != MaxEdge {
		t.Errorf("16 bits: %+v, %v", p, err)
	}
	const w, h = 6000, 6000 // fits with 8 bits
	binary.BigEndian.PutUint32(b.Bytes()[16:], w)
	binary.BigEndian.PutUint32(b.Bytes()[20:], h)
	binary.BigEndian.PutUint32(b.Bytes()[29:], crc32.ChecksumIEEE(b.Bytes()[12:29]))
	if _, err = Fit(b.Bytes()); err == nil || !strings.Contains(err.Error(), "more than can be read") {
		t.Errorf("36 million pixels of 16 bits: %v", err)
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
