package localllm

import (
	"hash/fnv"
	"math"
	"regexp"
	"strings"
	"unicode"
)

// maxFakeText caps what the demo model reads of a text, in bytes.
const maxFakeText = 64 << 10

// Words that carry no subject. Negations and modals are read from the text itself, see compare.
var stopWords = set(`a an the of to in on at by for from with and or is are be been being was were it its this that these those as than then
	so if when we you they i must shall should have has had will would do does did always required obligatory may can could allowed permitted optional
	not never no nor without cannot forbidden prohibited banned need needs only all any every each their our your there
	и в во на с со к по из за от для или а но это этот эта эти что как когда если то мы вы они он она оно их его ее бы ли же у о об при
	должен должна должно должны обязан обязана обязаны обязательно необязательно всегда можно может могут разрешено разрешается допускается
	не ни нет нельзя никогда без запрещено запрещается запрещен только все всё каждый каждая каждое любой любая любое быть есть надо нужно следует`)

var (
	wordRE   = regexp.MustCompile(`[\p{L}\p{N}]+(?:[.,]\p{N}+)*`)
	numberRE = regexp.MustCompile(`^\p{N}+(?:[.,]\p{N}+)*$`)
)

// numerals are the number words that rules use; the values are how the digits are written.
var numerals = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
	"ten": "10", "один": "1", "одна": "1", "два": "2", "две": "2", "двух": "2", "три": "3", "трех": "3", "четыре": "4", "пять": "5", "пяти": "5",
	"десять": "10"}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// words are a text's words in lower case, ё as е.
func words(text string) []string {
	if len(text) > maxFakeText {
		text = text[:maxFakeText]
	}
	return wordRE.FindAllString(strings.ReplaceAll(strings.ToLower(strings.ToValidUTF8(text, " ")), "ё", "е"), -1)
}

// endings are cut off, longest first, where enough of the word remains.
var endings = strings.Fields(`ировать ениями ениях ывать ивать ности ность ами ями ого его ому ему ыми ими ется ются ится ятся ение ения ания ание ать ять ить еть ует уют ешь ишь
	ing tion ions ies ied ed es ly er ый ий ой ая яя ое ее ые ие ую юю ых их ым им ах ях ам ям ов ев ей ом ем ет ют ит ят ут ы и а я о е у ю ь s e`)

// stem cuts a word down to what its forms share, roughly.
func stem(w string) string {
	r := []rune(w)
	if numberRE.MatchString(w) || len(r) < 4 {
		return w
	}
	for _, end := range endings {
		if n := len([]rune(end)); len(r)-n >= 3 && strings.HasSuffix(w, end) {
			r = r[:len(r)-n]
			break
		}
	}
	if n := len(r); n > 3 && r[n-1] == r[n-2] && unicode.IsLetter(r[n-1]) { // stopped → stop
		r = r[:n-1]
	}
	return string(r[:min(len(r), 6)])
}

// subject is what a text is about: its stems without stop words and numbers, and its numbers.
func subject(text string) (stems, numbers map[string]bool) {
	stems, numbers = map[string]bool{}, map[string]bool{}
	for _, w := range words(text) {
		n, isNumeral := numerals[w]
		switch {
		case isNumeral:
			numbers[n] = true
		case numberRE.MatchString(w):
			numbers[strings.ReplaceAll(w, ",", ".")] = true
		case !stopWords[w]:
			stems[stem(w)] = true
		}
	}
	return stems, numbers
}

// embedWords hashes stems and, more lightly, their three-letter pieces into a vector of length one. A text without words still
// gets a vector, because a zero one would be refused.
func embedWords(text string) []float32 {
	sums := make([]float64, fakeDimensions)
	add := func(feature string, weight float64) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(feature))
		v := h.Sum64()
		if v>>63 == 1 {
			weight = -weight
		}
		sums[v%fakeDimensions] += weight
	}
	stems, numbers := subject(text)
	for s := range stems {
		add("w "+s, 1)
		r := []rune("^" + s + "$")
		for i := 0; i+3 <= len(r); i++ {
			add("t "+string(r[i:i+3]), 0.3)
		}
	}
	for n := range numbers {
		add("n "+n, 0.5)
	}
	length := 0.0
	for _, x := range sums {
		length += x * x
	}
	if length == 0 {
		add("raw "+text, 1)
		length = 1
	}
	out := make([]float32, fakeDimensions)
	for i, x := range sums {
		out[i] = float32(x / math.Sqrt(length))
	}
	return out
}
