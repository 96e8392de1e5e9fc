// Package mutants is the negative control of rules that keep people safe: for each
// it takes the rule away, in a copy that only the compiler sees, and holds that the
// test which stands for it fails. A rule without such a test could be lost unnoticed.
//
// It changes no file of the tree.
package mutants
