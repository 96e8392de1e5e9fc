package engine

// ContextTokens estimates how many tokens the next request will send, the
// message that is still to come aside. While a turn runs it is 0: the
// conversation is then the turn's.
func (s *Session) ContextTokens() int {
	tokens := 0
	s.do(func(a *actor) {
		if a.cancelTurn == nil {
			tokens, _ = a.conv.estimate()
		}
	})
	return tokens
}

// LastEvent is the number of the newest event, -1 before the first. Who has read
// that far has seen everything that calls so far have brought about.
func (s *Session) LastEvent() int64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.first + int64(len(s.log.entries)) - 1
}
