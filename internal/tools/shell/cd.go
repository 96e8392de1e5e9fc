package shell

import "strings"

// stripCd removes a leading `cd ROOT &&` or `cd ROOT;`, where a line's end counts
// as the semicolon, as often as it stands there: a command starts in the root anyway, and rules and approvals are about
// what comes after it. ROOT is the root as it is, with or without a slash at
// its end, ".", or the working directory by another name.
func stripCd(command, root string) (rest string, stripped bool) {
	for {
		after, ok := afterCd(command, root)
		if !ok {
			return command, stripped
		}
		command, stripped = after, true
	}
}

func afterCd(command, root string) (string, bool) {
	after, ok := strings.CutPrefix(command, "cd")
	if !ok {
		return "", false
	}
	folder := strings.TrimLeft(after, " \t")
	if folder == after {
		return "", false // cd alone, or another word
	}
	for _, spelled := range spellings(root) {
		rest, ok := strings.CutPrefix(folder, spelled)
		if !ok {
			continue
		}
		if rest, ok = afterOperator(strings.TrimLeft(rest, " \t")); ok {
			return rest, true
		}
	}
	return "", false
}

// afterOperator cuts &&, ; or a newline off, and nothing that only begins like them.
func afterOperator(s string) (rest string, ok bool) {
	for _, operator := range []string{"&&", ";", "\n"} {
		if rest, ok = strings.CutPrefix(s, operator); ok {
			break
		}
	}
	rest = strings.TrimLeft(rest, " \t\n")
	if !ok || rest == "" || strings.ContainsRune(";&|", rune(rest[0])) {
		return "", false
	}
	return rest, true
}

// spellings are the ways in which a command names the root, the longer first
// where one begins with another.
func spellings(root string) []string {
	plain := []string{root + "/", root, "./", "."}
	live := []string{"${PWD}", "$PWD", "$(pwd)", "`pwd`"}
	var out []string
	for _, p := range plain {
		if !strings.ContainsAny(p, "\\\"$`!") {
			out = append(out, `"`+p+`"`)
		}
		if !strings.Contains(p, "'") {
			out = append(out, "'"+p+"'")
		}
		if strings.Trim(p, bareCharacters) == "" {
			out = append(out, p)
		}
	}
	for _, l := range live {
		out = append(out, `"`+l+`/"`, `"`+l+`"`)
		// Unquoted it is the root only where the root is one word.
		if strings.Trim(root, bareCharacters) == "" {
			out = append(out, l+"/", l)
		}
	}
	return out
}

// bareCharacters mean themselves outside quotes, anywhere in a word.
const bareCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+:@%,-"
