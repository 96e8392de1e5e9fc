package fileedit

import (
	"testing"

	"garuda/internal/testkit/tooltest"
)

// The schemas are kept by hand to be small.
func TestSpecs(t *testing.T) {
	tooltest.CheckSpec[writeInput](t, writeFile{}.Spec(), 550)
	tooltest.CheckSpec[multiEditInput](t, multiEdit{}.Spec(), 1000)
	tooltest.CheckSpec[moveInput](t, moveFile{}.Spec(), 450)
	tooltest.CheckSpec[deleteInput](t, deleteFile{}.Spec(), 300)
	tooltest.CheckSpec[patchInput](t, applyPatch{}.Spec(), 900)
	tooltest.CheckSpec[notebookInput](t, notebookEdit{}.Spec(), 650)
	tooltest.CheckSpec[editInput](t, editFile{}.Spec(), 750)
}
