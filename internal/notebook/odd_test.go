package notebook

import (
	"strings"
	"testing"
)

// A member that is there twice counts where it stands last, as for Jupyter, and
// is changed there.
func TestMembersTwice(t *testing.T) {
	const book = `{"cells": [], "cells": [{"cell_type": "raw", "source": "old", "cell_type": "code", "id": "x", "id": "a",` +
		` "outputs": [], "outputs": [{"output_type": "stream", "text": "o"}], "metadata": {}, "source": "new"}], "nbformat": 3, "nbformat": 4, "nbformat_minor": 5}`
	n := parse(t, book)
	cells := n.Cells()
	if len(cells) != 1 || cells[0].ID != "a" || cells[0].Type != Code || cells[0].Source != "new" || len(cells[0].Outputs) != 1 {
		t.Fatalf("%+v", cells)
	}
	if err := n.Replace("a", Markdown, "text"); err != nil {
		t.Fatal(err)
	}
	want := `{"cells": [], "cells": [{"cell_type": "raw", "source": "old", "cell_type": "markdown", "id": "x", "id": "a",` +
		` "metadata": {}, "source": "text"}], "nbformat": 3, "nbformat": 4, "nbformat_minor": 5}`
	if got := n.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestFormats(t *testing.T) {
	for format, known := range map[string]bool{
		`"nbformat": 4`: true, `"nbformat": 4.0`: true, `"nbformat": 4, "nbformat_minor": 99`: true,
		`"nbformat": 3`: false, `"nbformat": 5`: false, `"nbformat": "4"`: false, `"nbformat": 4.5`: false, `"nbformat": 1e400`: false,
		`"nbformat": null`: false, `"x": 4`: false,
	} {
		if _, err := Parse(`{"cells": [], ` + format + `}`); (err == nil) != known {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Outputs of many megabytes stay as they are, byte for byte, when a cell beside
// them changes.
func TestLargeOutputs(t *testing.T) {
	large := strings.Repeat("\\u00e9 and more\\n", 700_000) // some 10 MB
	book := `{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [{"output_type": "stream", "text": "` + large + `"}], "source": "x"},` +
		`{"cell_type": "markdown", "id": "b", "metadata": {}, "source": "y"}], "nbformat": 4, "nbformat_minor": 5}`
	n := parse(t, book)
	if err := n.Replace("b", "", "z"); err != nil {
		t.Fatal(err)
	}
	if got := n.String(); got != strings.Replace(book, `"source": "y"`, `"source": "z"`, 1) {
		t.Error("other bytes changed")
	}
}
