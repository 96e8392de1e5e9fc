package tool

// MayReadListed is MayRead for what a walk came across, which follows no link: no
// part of the path is one, the last included, so that nothing has to be followed.
// It is asked about every file of a search.
func (e *Env) MayReadListed(path string) bool {
	if e.MayReadReal != nil {
		return e.MayReadReal(path)
	}
	return e.MayRead(path)
}
