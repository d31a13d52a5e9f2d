// Package trends turns counted rows into the series, rates and figures of the trends page.
//
// The model: a row is what was counted in one repo in one stretch of time (core.TrendRow). Quarters of an hour in UTC add up to calendar
// days of any zone ([Days]), for every zone in use is offset by whole quarters; days add up to ISO weeks (from Monday) and months
// ([Series]). A calendar day is a date without a zone, kept as midnight UTC, so that a day of 23 or 25 hours is a day like any other.
//
// What always holds: the sum over any bucketing is the sum of the rows; a rate is given only from [MinRate] units on, below that the
// numbers speak; nothing here knows a clock or a database.
package trends
