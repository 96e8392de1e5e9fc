package anthropictest

import (
	"bytes"
	"io"
	"net/http"
)

// Scripted lets package modelserver, which serves the Messages API at its own
// path, answer the requests of another host: one that names the model in the
// path, and may ask for the stream there, too.
func Scripted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) == 0 {
			panic(http.ErrAbortHandler) // the client left
		}
		body = append(body[:len(body)-1:len(body)-1], `,"model":"scripted"`...)
		if !bytes.Contains(body, []byte(`"stream":true`)) {
			body = append(body, `,"stream":true`...)
		}
		out := r.Clone(r.Context())
		out.URL.Path = "/v1/messages"
		out.Body = io.NopCloser(bytes.NewReader(append(body, '}')))
		next.ServeHTTP(w, out)
	})
}
