package column

// TimeParts are what the columns of a time in parts mean, in this order.
var TimeParts = [...]string{"year", "month", "day", "hour", "minute", "second"}
