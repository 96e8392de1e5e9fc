package compact

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// sized is an image of so many pixels: the header of one, which is all that is read.
func sized(width, height uint32) core.Block {
	chunk := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)...)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\r"), chunk...)
	return core.Block{Type: core.BlockImage, MediaType: "image/png", Data: binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(chunk))}
}

func TestUnfit(t *testing.T) {
	limits := llm.PictureLimits{Bytes: 4000, Edge: 800, Many: 3, ManyEdge: 200, Count: 5}
	small, middle, wide := sized(100, 100), sized(300, 10), sized(10, 900)
	heavy := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: bytes.Repeat([]byte("x"), 3001)}
	odd := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("no image")}
	many := func(n int, b core.Block) []core.Block {
		var out []core.Block
		for range n {
			out = append(out, b)
		}
		return out
	}
	for name, tt := range map[string]struct {
		blocks []core.Block
		left   int
		why    string
	}{
		"none":                {[]core.Block{core.Text("a")}, 0, ""},
		"fit":                 {[]core.Block{small, middle, odd}, 3, ""},
		"too wide":            {[]core.Block{small, wide}, 1, "10 × 900 pixels, and the model takes 800"},
		"too heavy":           {[]core.Block{heavy, small}, 1, "and the model takes 0.0"},
		"wide among many":     {append(many(3, small), middle), 3, "300 × 10 pixels, and the model takes 200"},
		"too many":            {many(7, small), 5, "at most 5 images"},
		"wide, and then few":  {append(many(5, small), middle), 5, "300 × 10"},
		"wide, and still too": {append(many(6, small), middle), 5, "300 × 10"},
	} {
		result := core.ToolResult("c1", false, append([]core.Block{core.Text("a")}, tt.blocks...)...)
		for place, msgs := range map[string][]*core.Message{
			"message": {{Role: core.RoleUser, Blocks: append([]core.Block{core.Text("a")}, tt.blocks...)}},
			"result":  {{Role: core.RoleUser, Blocks: []core.Block{result}}},
			"both":    {core.UserText("a"), {Role: core.RoleUser, Blocks: append([]core.Block{core.ToolResult("c1", false, tt.blocks[:1]...)}, tt.blocks[1:]...)}},
		} {
			c, why := Unfit(msgs, limits)
			if got := len(places(c.Messages)); got != tt.left || c.Blocks != len(places(msgs))-tt.left || !strings.Contains(why, tt.why) || tt.why == "" && why != "" {
				t.Errorf("%s in a %s: %d left, %d gave way: %q", name, place, got, c.Blocks, why)
			}
			if c.Blocks == 0 && c.Messages[0] != msgs[0] {
				t.Errorf("%s: a message that fits was copied", name)
			}
			if again, _ := Unfit(c.Messages, limits); again.Blocks != 0 {
				t.Errorf("%s in a %s: what is left does not fit", name, place)
			}
		}
	}
	// The newest stay.
	c, _ := Unfit([]*core.Message{{Role: core.RoleUser, Blocks: many(6, small)}}, limits)
	if c.Messages[0].Blocks[0].Type != core.BlockText || c.Messages[0].Blocks[5].Type != core.BlockImage {
		t.Error("it was not the oldest that gave way")
	}
}
