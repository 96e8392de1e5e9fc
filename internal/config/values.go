package config

// Value is one setting in force, for a person who asks what holds and why.
type Value struct {
	Key string
	// JSON is the value; empty when there is none, "hidden" in angle brackets when
	// it may hold a password.
	JSON    string
	Sources []Source
}

// Values lists every setting in the order of the documentation.
func (s *Settings) Values() []Value {
	var out []Value
	for _, k := range table() {
		v := Value{Key: k.Name, Sources: s.Sources(k.Name)}
		if shown := k.show(s); shown != nil {
			v.JSON = marshal(shown)
			if k.secret() {
				v.JSON = "<hidden>"
			}
		}
		out = append(out, v)
	}
	return out
}

// secret keys hold values that often contain a password or a token.
func (k *Key) secret() bool { return k.Name == "jobs.databaseUrl" || k.Name == "telemetry" }
