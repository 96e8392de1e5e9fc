package fileread

import (
	"fmt"

	"garuda/internal/core"
	"garuda/internal/picture"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// image gives a picture to the model, scaled down where it is too large.
func (call *readCall) image(env *tool.Env, p workspace.Path, c *workspace.Contents) (*tool.Output, error) {
	fit, err := picture.Fit(c.Raw)
	if err != nil {
		return nil, fmt.Errorf("%s is %s: %w", p.Rel, workspace.FileType(c.Raw), err)
	}
	env.Tracker.Record(p.Real, workspace.Read{Snapshot: c.Snapshot, Asked: call.lines})
	return &tool.Output{
		Text:    p.Rel + ": " + inWords(c.Raw, fit) + ".",
		Blocks:  []core.Block{imageBlock(fit)},
		Summary: fmt.Sprintf("image, %d × %d", fit.Width, fit.Height),
	}, nil
}

func inWords(raw []byte, fit *picture.Picture) string {
	text := fmt.Sprintf("%s of %s, %d × %d pixels", workspace.FileType(raw), Size(int64(len(raw))), fit.Width, fit.Height)
	if fit.Was.X > 0 {
		text = fmt.Sprintf("%s of %s, %d × %d pixels, shown at %d × %d", workspace.FileType(raw), Size(int64(len(raw))), fit.Was.X, fit.Was.Y, fit.Width, fit.Height)
	}
	return text
}

func imageBlock(fit *picture.Picture) core.Block {
	return core.Block{Type: core.BlockImage, MediaType: fit.MediaType, Data: fit.Data}
}
