package workspace

import "io/fs"

func infoFrom(fi fs.FileInfo) Info {
	return Info{
		Kind: kindOf(fi.Mode()), Mode: fi.Mode() & keptModeBits,
		Size: fi.Size(), ModTime: fi.ModTime(), file: fi,
	}
}
