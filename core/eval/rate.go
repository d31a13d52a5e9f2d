package eval

import (
	"math"

	"storozh/core"
)

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959963984540054

// Wilson is the share n/of with its 95 % score interval, which stays inside 0 … 1 and is honest for few cases.
func Wilson(n, of int) core.Rate {
	if of <= 0 {
		return core.Rate{High: 1}
	}
	p, m := float64(n)/float64(of), float64(of)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return core.Rate{N: n, Of: of, Value: p, Low: max(0, min(p, mid-half)), High: min(1, max(p, mid+half))}
}

// f1 scores hits against errors of both kinds. F1 is no share of cases, but J = hits/(hits+errors) is one, and F1 = 2J/(1+J) rises
// with it, so the ends of J's interval become those of F1's.
func f1(hits, errors int) core.Rate {
	r := Wilson(hits, hits+errors)
	up := func(j float64) float64 { return 2 * j / (1 + j) }
	r.Value, r.Low, r.High = up(r.Value), up(r.Low), up(r.High)
	return r
}
