package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"garuda/internal/state"
)

// setupOf is the setup that a record brings, or nil.
func setupOf(rec Record) *Setup {
	switch r := rec.(type) {
	case *Start:
		return r.Setup
	case *Resume:
		return r.Setup
	default:
		return nil
	}
}

// keepPrompt keeps the system prompt that a record brings as a blob, and gives back
// the record with its name. It is not waited for: what is lost with it is a replay's
// comparison of requests, and nothing of the conversation.
func keepPrompt(rec Record, session *state.Folder) (Record, error) {
	setup := setupOf(rec)
	if setup == nil || setup.System == "" {
		return rec, nil
	}
	blobs, err := session.MakeSub(blobsName)
	if err != nil {
		return rec, err
	}
	defer blobs.Close()
	sum := sha256.Sum256([]byte(setup.System))
	with := *setup
	with.Prompt = hex.EncodeToString(sum[:])
	if _, err := blobs.Stat(with.Prompt); err != nil {
		if err := blobs.Replace(with.Prompt, []byte(setup.System), false); err != nil {
			return rec, err
		}
	}
	switch r := rec.(type) {
	case *Start:
		named := *r
		named.Setup = &with
		return &named, nil
	case *Resume:
		named := *r
		named.Setup = &with
		return &named, nil
	}
	return rec, nil
}

// errNoPrompt says that a journal does not hold the system prompt of its requests.
var errNoPrompt = errors.New("the journal does not hold the system prompt of its requests")

// readPrompt reads the system prompt of a setup.
func readPrompt(setup *Setup, session *state.Folder) (string, error) {
	if setup == nil || setup.Prompt == "" {
		return "", errNoPrompt
	}
	body, err := readBlob(blobPrefix+setup.Prompt, session)
	if err != nil {
		return "", fmt.Errorf("read the system prompt: %w", err)
	}
	return string(body), nil
}
