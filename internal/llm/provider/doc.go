// Package provider turns a model's name into a client: which provider, at which
// address, with which key, and what is known of the model. It reads models.json
// and holds the table of built-in providers.
//
// It reads no environment (look-ups are handed to it), takes keys only from a
// secret.Store, writes nothing, and sends no request but the short question to
// a server which models it has.
package provider
