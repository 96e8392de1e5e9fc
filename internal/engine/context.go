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
