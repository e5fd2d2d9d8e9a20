// Package textvalue parses cells of text: numbers, booleans, times and missing values.
//
// [ParseTime] and [ParseCanonical] are faster than package time and strconv, and agree with them.
// [ParseFloat] and [ParseInt] call strconv and accept less. A [Dialect] describes how text files
// are written, and a [TimeFormat] is a format of times.
package textvalue
