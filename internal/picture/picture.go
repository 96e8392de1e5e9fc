// Package picture makes images fit for a model: it recognises PNG, JPEG, GIF and
// WebP, and scales down what is larger than providers take.
//
// It reads and writes no file. A picture whose decoding would fill the memory is
// refused by what its header says, before anything is decoded.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders register themselves
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // likewise
)

const (
	// MaxEdge is the longest edge in pixels: beyond it Anthropic scales down
	// itself, and the time for the larger upload is wasted.
	MaxEdge = 1568
	// MaxBytes keeps an image below 5 MB in base64, the strictest limit known.
	MaxBytes = 3_750_000
	// maxPixels is how large a picture may be to be decoded: four bytes each, or
	// twice that for one with 16 bits a colour, which may have half as many.
	maxPixels = 50_000_000
)

// Picture is an image that a model can be given.
type Picture struct {
	MediaType string
	Data      []byte
	// Width and Height are those of Data, in pixels; Was are those before it was
	// scaled, or zero.
	Width, Height int
	Was           image.Point
}

// ErrUnknown says that the bytes are no picture of a known kind.
var ErrUnknown = errors.New("it is no PNG, JPEG, GIF or WebP image")

// MediaType recognises a picture by its first bytes; "" for what is none.
func MediaType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Fit returns the picture as it is when a model takes it so, else scaled down and
// encoded anew; of an animation then only its first picture.
func Fit(data []byte) (*Picture, error) {
	p := &Picture{MediaType: MediaType(data), Data: data}
	if p.MediaType == "" {
		return nil, ErrUnknown
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the picture's size: %w", err)
	}
	p.Width, p.Height = cfg.Width, cfg.Height
	most := maxPixels
	switch cfg.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
		most /= 2
	}
	if p.Width <= 0 || p.Height <= 0 || p.Width > most/p.Height {
		return nil, fmt.Errorf("the picture has %d × %d pixels, more than can be read", p.Width, p.Height)
	}
	// Also one that goes as it is: a provider refuses what is cut or broken, with
	// it the whole request, and each later one that holds the same conversation.
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decode the picture: %w", err)
	}
	fits := max(p.Width, p.Height) <= MaxEdge && len(data) <= MaxBytes
	if fits && !odd(img, data) {
		return p, nil
	}
	if !fits {
		p.Was = image.Pt(p.Width, p.Height)
	}
	for edge := min(MaxEdge, max(p.Width, p.Height)); ; edge = edge * 3 / 4 {
		small := scaled(img, edge)
		if err := p.encode(small); err != nil {
			return nil, err
		}
		if len(p.Data) <= MaxBytes {
			p.Width, p.Height = small.Bounds().Dx(), small.Bounds().Dy()
			return p, nil
		}
	}
}

// odd reports whether some providers refuse the picture or show other colours,
// though it is of a kind and size that they take: animations, and JPEGs in the
// colours of print.
func odd(img image.Image, data []byte) bool {
	_, cmyk := img.(*image.CMYK)
	return cmyk || MediaType(data) == "image/gif" && animated(data)
}

// animated reports whether a GIF holds more than one picture. It decodes none:
// what a file of few bytes unpacks to has no bound.
func animated(gif []byte) bool {
	const header, descriptor = 13, 10
	// table is the length of the table of colours that a byte of flags announces.
	table := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (1 + flags&7)
	}
	if len(gif) < header {
		return false
	}
	pictures := 0
	for at := header + table(gif[10]); at < len(gif); {
		switch gif[at] {
		case 0x21: // an extension
			at += 2
		case 0x2c:
			if pictures++; pictures > 1 {
				return true
			}
			if at+descriptor > len(gif) {
				return false
			}
			at += descriptor + table(gif[at+descriptor-1]) + 1
		default:
			return false
		}
		for at < len(gif) && gif[at] != 0 { // blocks, each with its length before it
			at += 1 + int(gif[at])
		}
		at++
	}
	return false
}

// scaled makes the longer edge so many pixels long.
func scaled(img image.Image, edge int) image.Image {
	b := img.Bounds()
	by := float64(edge) / float64(max(b.Dx(), b.Dy()))
	to := image.Rect(0, 0, max(1, int(math.Round(float64(b.Dx())*by))), max(1, int(math.Round(float64(b.Dy())*by))))
	out := image.NewNRGBA(to)
	draw.ApproxBiLinear.Scale(out, to, img, b, draw.Src, nil)
	return out
}

// encode writes photographs as JPEG and drawings, also those that are partly
// transparent, as PNG unless that is too large.
func (p *Picture) encode(img image.Image) error {
	const quality = 85
	var b bytes.Buffer
	if p.MediaType == "image/png" || p.MediaType == "image/gif" {
		if err := png.Encode(&b, img); err != nil {
			return fmt.Errorf("encode the picture: %w", err)
		}
		if b.Len() <= MaxBytes {
			p.MediaType, p.Data = "image/png", b.Bytes()
			return nil
		}
		b.Reset()
	}
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		return fmt.Errorf("encode the picture: %w", err)
	}
	p.MediaType, p.Data = "image/jpeg", b.Bytes()
	return nil
}
