package config

import "os"

// ownedByRoot is never asked: there is no managed policy on Windows.
func ownedByRoot(*os.File) error { return errOpenToOthers("its owner is not known here") }

// ownFile lets every file pass: whose it is lies in access lists there.
func ownFile(*os.File) error { return nil }
