package source

// Selective is a reader whose columns depend on which ones a load wants: the file has no list of
// its columns, and a later row may add one.
type Selective interface {
	Reader
	// Select makes the reader ignore all columns but the named ones, and adds those that the file
	// has to Names. It must be called before the other methods, and is not called if the load wants
	// all columns.
	Select(names []string) error
}
