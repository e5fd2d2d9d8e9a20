package column

// Names of the columns of a melted source, besides the time.
const (
	MeltedItem  = "item"  // the name of the series
	MeltedValue = "value" // its values
)
