// Command floor does the least that an agent must do for a scripted conversation:
// it reads each file it is given, appends it to the request, sends the request and
// reads the answer. Without arguments it does nothing. It is the reference beside
// Garuda's own numbers.
//
//	floor URL FILE …
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) < 2 {
		return
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(url string, files []string) error {
	body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Do the task and then stop."}`)
	if err := ask(url, body); err != nil {
		return err
	}
	for i, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content, err := json.Marshal(string(text))
		if err != nil {
			return err
		}
		id := `"call_` + strconv.Itoa(i) + `"`
		body = append(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":`+id+`,"type":"function","function":{"name":"read_file","arguments":"{}"}}]}`...)
		body = append(body, `,{"role":"tool","tool_call_id":`+id+`,"content":`...)
		body = append(append(body, content...), '}')
		if err := ask(url, body); err != nil {
			return err
		}
	}
	return nil
}

// ask sends the request, which still lacks its end, and reads the answer.
func ask(url string, body []byte) error {
	whole := io.MultiReader(bytes.NewReader(body), bytes.NewReader([]byte("]}")))
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", whole)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(body)) + 2
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
