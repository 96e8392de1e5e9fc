package policy

// ForgetSession drops what a person's answers added for the session, for a new
// session in the same process.
func (e *Engine) ForgetSession() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session, e.exact = nil, nil
	e.denied = map[string]denial{}
	e.reads.clear()
}
