package pdf

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// glyphWords are names of glyphs that follow no rule, each with its character.
const glyphWords = `space _ exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright )
asterisk * plus + comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9
colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ] asciicircum ^ underscore _
grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „
guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡
perthousand ‰ exclamdown ¡ questiondown ¿ cent ¢ sterling £ currency ¤ yen ¥ Euro € florin ƒ brokenbar ¦ section § paragraph ¶
copyright © circlecopyrt © registered ® trademark ™ ordfeminine ª ordmasculine º logicalnot ¬ plusminus ± degree ° mu µ periodcentered · middot ·
onequarter ¼ onehalf ½ threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³ multiply × divide ÷ fraction ⁄
germandbls ß ae æ AE Æ oe œ OE Œ oslash ø Oslash Ø aring å Aring Å eth ð Eth Ð thorn þ Thorn Þ dcroat đ Dcroat Đ lslash ł Lslash Ł
dotlessi ı dotlessj ȷ hbar ħ Hbar Ħ tbar ŧ Tbar Ŧ eng ŋ Eng Ŋ kgreenlandic ĸ longs ſ napostrophe ŉ ij ĳ IJ Ĳ ldot ŀ Ldot Ŀ
fi fi fl fl ff ff ffi ffi ffl ffl f_i fi f_l fl f_f ff acute ´ dieresis ¨ cedilla ¸ circumflex ˆ tilde ˜ macron ¯ breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ ogonek ˛ caron ˇ
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω
alpha α beta β gamma γ delta δ epsilon ε epsilon1 ϵ zeta ζ eta η theta θ theta1 ϑ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ rho1 ϱ sigma σ sigma1 ς tau τ upsilon υ phi φ phi1 ϕ chi χ psi ψ omega ω omega1 ϖ
infinity ∞ lessequal ≤ greaterequal ≥ notequal ≠ approxequal ≈ equivalence ≡ similar ∼ congruent ≅ proportional ∝ element ∈ notelement ∉ suchthat ∋ union ∪ intersection ∩
propersubset ⊂ propersuperset ⊃ reflexsubset ⊆ reflexsuperset ⊇ notsubset ⊄ emptyset ∅ universal ∀ existential ∃ logicaland ∧ logicalor ∨ partialdiff ∂ gradient ∇ nabla ∇ integral ∫
summation ∑ product ∏ radical √ asteriskmath ∗ dotmath ⋅ circleplus ⊕ circlemultiply ⊗ perpendicular ⊥ angle ∠ therefore ∴ lozenge ◊ aleph ℵ Ifraktur ℑ Rfraktur ℜ weierstrass ℘
arrowleft ← arrowright → arrowup ↑ arrowdown ↓ arrowboth ↔ arrowdblleft ⇐ arrowdblright ⇒ arrowdblboth ⇔ angbracketleft ⟨ angbracketright ⟩ langle ⟨ rangle ⟩
openbullet ◦ circle ○ square □ filledbox ■ triangleright ▷ checkmark ✓ prime ′ primeprime ″ star ⋆ visiblespace ␣ nbspace _ nonbreakingspace _ softhyphen - sfthyphen - commaaccent ,`

// accented are letters that are named by their accent: Aacute, eacute. Each pair
// is the plain letter and the accented one.
const accented = `acute AÁaáCĆcćEÉeéGǴgǵIÍiíLĹlĺNŃnńOÓoóRŔrŕSŚsśUÚuúYÝyýZŹzź
grave AÀaàEÈeèIÌiìOÒoòUÙuùNǸnǹ
circumflex AÂaâCĈcĉEÊeêGĜgĝHĤhĥIÎiîJĴjĵOÔoôSŜsŝUÛuûWŴwŵYŶyŷ
tilde AÃaãIĨiĩNÑnñOÕoõUŨuũ
dieresis AÄaäEËeëIÏiïOÖoöUÜuüYŸyÿ
cedilla CÇcçSŞsşTŢtţ
caron CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžGǦgǧ
breve AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭ
macron AĀaāEĒeēIĪiīOŌoōUŪuū
ogonek AĄaąEĘeęIĮiįUŲuų
dotaccent CĊcċEĖeėGĠgġIİZŻzż
ring AÅaåUŮuů
hungarumlaut OŐoőUŰuű
commaaccent GĢgģKĶkķLĻlļNŅnņRŖrŗSȘsșTȚtț`

var glyphTable = sync.OnceValue(func() map[string]string {
	words := strings.Fields(glyphWords)
	table := make(map[string]string, len(words))
	for i := 0; i+1 < len(words); i += 2 {
		table[words[i]] = words[i+1]
	}
	for _, blank := range []string{"space", "nbspace", "nonbreakingspace"} {
		table[blank] = " "
	}
	for line := range strings.Lines(accented) {
		accent, letters, _ := strings.Cut(strings.TrimSpace(line), " ")
		runes := []rune(letters)
		for i := 0; i+1 < len(runes); i += 2 {
			table[string(runes[i])+accent] = string(runes[i+1])
		}
	}
	return table
})

// glyphText is what the glyph of this name shows, by the rules of Adobe's glyph
// names; "" when the name says nothing.
func glyphText(of string) string {
	if utf8.RuneCountInString(of) == 1 {
		return texText(of)
	}
	of, _, _ = strings.Cut(of, ".") // a variant: a.sc
	if text, ok := glyphTable()[of]; ok {
		return text
	}
	if utf8.RuneCountInString(of) == 1 {
		return of
	}
	if digits, ok := strings.CutPrefix(of, "uni"); ok && len(digits) >= 4 && len(digits)%4 == 0 {
		var b strings.Builder
		for ; len(digits) >= 4; digits = digits[4:] {
			b.WriteString(hexText(digits[:4]))
		}
		return b.String()
	}
	if digits, ok := strings.CutPrefix(of, "u"); ok && len(digits) >= 4 && len(digits) <= 6 {
		return hexText(digits)
	}
	if digits, ok := strings.CutPrefix(of, "afii"); ok {
		return cyrillic(digits)
	}
	if parts := strings.Split(of, "_"); len(parts) > 1 && len(parts) <= 8 {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(glyphText(part))
		}
		return b.String()
	}
	return ""
}

// texText is a glyph that is named by one character: itself, or what stands at that
// code in the fonts of TeX.
func texText(of string) string {
	const ligatures = "\x0bff\x0cfi\x0dfl\x0effi\x0fffl"
	at := strings.Index(ligatures, of)
	if of[0] >= ' ' || at < 0 {
		return of
	}
	rest := ligatures[at+1:]
	if next := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' }); next >= 0 {
		rest = rest[:next]
	}
	return rest
}

func hexText(digits string) string {
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return ""
	}
	return string(rune(n))
}

// cyrillic are the numbered names of that alphabet: afii10017 is its first letter.
func cyrillic(digits string) string {
	n, err := strconv.Atoi(digits)
	const upper, lower, alphabet = 10017, 10065, 32
	// Ё stands seventh in the numbers, apart in the characters.
	letter := func(at int, first, yo rune) string {
		switch {
		case at == 6:
			return string(yo)
		case at > 6:
			at--
		}
		return string(first + rune(at))
	}
	switch {
	case err != nil:
	case n >= upper && n <= upper+alphabet:
		return letter(n-upper, 'А', 'Ё')
	case n >= lower && n <= lower+alphabet:
		return letter(n-lower, 'а', 'ё')
	}
	return ""
}

// standardUpper is the upper half of Adobe's standard encoding, from 0xa1; a blank
// is a code without a glyph.
const standardUpper = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß"

// symbolLower is the lower half of the encoding of the font Symbol, from 0x20.
const symbolLower = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
