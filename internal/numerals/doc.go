// Package numerals parses plain numbers in text: [Float] and [Int] one number, and [Rows.Read] the
// numbers of delimited text, many in a row.
//
// [Rows.Begin] first sets one bit for each byte that is not a digit, so that Read finds the ends of
// cells by counting zeros in a word and not byte by byte (Langdale and Lemire, "Parsing Gigabytes
// of JSON per Second", 2019). It then computes the value of up to 16 digits, without the decimal
// mark, in one vector register, and one division by a power of ten gives the nearest float64
// (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
//
// # Caveats
//
// [Rows.Read] stops at every other cell, and its caller parses that cell: texts, missing values,
// exponents, quotes, mantissas of 2⁵³ and more. If [Available] is false, the caller parses all
// cells.
package numerals
