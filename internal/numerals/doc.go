// Package numerals reads the numbers of delimited text, many in a row.
//
// A text is marked first, one bit a byte for what is no digit, so that [Rows.Read] finds the ends
// of cells by counting zeros in a word and not byte by byte (Langdale and Lemire, "Parsing
// Gigabytes of JSON per Second", 2019). The digits of a cell, up to 16 without the point between
// them, are then multiplied out in one vector register, and one division by a power of ten gives
// the nearest float64 (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
//
// # Caveats
//
// What is not of that kind stops [Rows.Read], and its caller reads that cell by other means: texts,
// missing values, exponents, quotes, mantissas from 2⁵³ on. Where [Available] is false there is
// nothing but those other means.
package numerals
